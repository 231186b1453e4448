"""What the statements claim, as formulas in LaTeX, for the report; the words of a statement say the rest."""

_POWER = (
    r"\lim_{n \to \infty} \mathrm{Pow}_n(\ell_n, \alpha, z^*) = \Phi(\Phi^{-1}(\alpha) + \sqrt{m^*}), "
    r"\quad m^* = \lim_{n \to \infty} \frac{1}{n} \lVert z^* - \mu \rVert^2_{C^{-1}}"
)
_ADVANTAGE = r"\mathrm{Adv}_n(\ell_n, z^*) \to \Phi(\sqrt{m^*} / 2) - \Phi(-\sqrt{m^*} / 2)"
_NORMAL = r"\ell_n \Rightarrow N(-m^* / 2, m^*) \text{ under } H_0, \quad \ell_n \Rightarrow N(m^* / 2, m^*) \text{ under } H_1"
_SCORE = r"\ell_n - \left[ (z^* - \mu)^T C^{-1} (\hat\mu_n - \mu) - \frac{1}{2 n} \lVert z^* - \mu \rVert^2_{C^{-1}} \right] \to 0"
_THRESHOLD = r"\tau_\alpha = -\frac{m^*}{2} + \sqrt{m^*} \, \Phi^{-1}(1 - \alpha)"
_EDGEWORTH = (
    r"E_0[Y] = -\frac{1 + t^2}{2 n}, \quad E_1[Y] = \frac{t^2 - 1}{2 n}, \quad V_0[Y] = V_1[Y] = \frac{t^2}{n}, "
    r"\quad \text{each} + o(1 / n), \quad t = \frac{z - \mu}{\sigma}"
)
_EDGEWORTH_RHO = (
    r"E_0[W] = -\frac{\rho t^2}{2 n}, \quad E_1[W] = \frac{\rho t^2}{2 n}, \quad V_0[W] = V_1[W] = \frac{\rho t^2}{n}, "
    r"\quad \text{each} + o(1 / n)"
)
_NOISY = r"\mathrm{Pow}_n \to \Phi(\Phi^{-1}(\alpha) + \sqrt{m}), \quad m = \lim \frac{1}{n} \lVert z^* - \mu \rVert^2_{(C + C_\gamma)^{-1}}"
_MISSPECIFIED = (
    r"\mathrm{Adv} \to \Phi\left(\frac{|m_{scal}|}{2 \sqrt{m}}\right) - \Phi\left(-\frac{|m_{scal}|}{2 \sqrt{m}}\right), "
    r"\quad m_{scal} = \frac{1}{n} (z_{targ} - \mu)^T C^{-1} (z^* - \mu), \quad m = "
)
_GDP = (
    r"\delta(\varepsilon) = \Phi\left(-\frac{\varepsilon}{s} + \frac{s}{2}\right) "
    r"- e^\varepsilon \Phi\left(-\frac{\varepsilon}{s} - \frac{s}{2}\right), \quad s = \sqrt{m^*}"
)
_SLOPE = r"\mu(w) = \frac{w^T (z^* - \mu)}{\sqrt{n \, w^T C w}} \le \sqrt{m^*}"
_DISTANCE = (
    r"D_i = 0.56 \, \frac{\sum_j |w_j|^3 E|Z_j - \mu_j|^3}{(w^T C w)^{3/2} \sqrt{n - i}}, \quad i = 0, 1"
)
_Z_PRINTED = (
    r"(I(x^*) - \theta_0)^T V^{-1} (\hat\theta - \theta_0) - \frac{1}{2 n} \lVert I(x^*) - \theta_0 \rVert^2_{V^{-1}}, "
    r"\quad I = V^{-1} \psi"
)
_Z_CORRECTED = (
    r"I(x^*)^T \Sigma^{-1} (\hat\theta - \theta_0) - \frac{1}{2 n} I(x^*)^T \Sigma^{-1} I(x^*), "
    r"\quad I = -V^{-1} \psi, \quad \Sigma = V^{-1} E[\psi \psi^T] V^{-T}"
)
_CANDIDATE = r"\hat{m}_k = (g_k - \hat\mu_0)^T \hat{C}_0^{-1} (g_k - \hat\mu_0)"
_STEP = (
    r"\beta(\alpha) = 1 - F_{\chi^2_d((r - 1) K)}\left( \frac{r}{r - 1} F^{-1}_{\chi^2_d(r K)}(\alpha) \right), "
    r"\quad r = n + \frac{\tau^2 n^2}{C^2}, \quad K = \lVert C^{-1/2} "
)
_STEP_PRINTED, _STEP_CENTRED = _STEP + r"\theta' \rVert^2", _STEP + r"(\theta' - \mu) \rVert^2"
_STEP_MU = r"\mu_{step} = \frac{d + (2 r - 1) K}{r \sqrt{2 d + 4 r K}}"
_LONG_RUN = (
    r"\mu = \sqrt{2} \, c \sqrt{e^{s^2} \Phi(3 s / 2) + 3 \Phi(-s / 2) - 2}, \quad s = \mu_{step}, \quad "
    r"c = \lim \frac{n}{N} \sqrt{t}"
)
_LAPLACE = r"j(\alpha) = \begin{cases} 1 - \alpha \cosh \mu_1 & \alpha \le e^{-\mu_1} \\ e^{-\mu_1} \sinh(-\ln \alpha) & \text{above} \end{cases}"
_GAUSSIAN = (
    r"j(\alpha) = F_{\chi^2_d(\mu_2^2)}\left(F^{-1}_{\chi^2_d}(1 - \alpha)\right), \quad "
    r"j^{-1}(\alpha) = 1 - F_{\chi^2_d}\left(F^{-1}_{\chi^2_d(\mu_2^2)}(\alpha)\right)"
)
_MANY = (
    r"j(\alpha) \to \Phi\left( \frac{\Phi^{-1}(1 - \alpha)}{\sqrt{1 + 2 L / d}} - \frac{L}{\sqrt{2 d + 4 L}} \right), \quad "
    r"j^{-1}(\alpha) \to \Phi\left( \Phi^{-1}(1 - \alpha) - \frac{L}{\sqrt{2 d}} \right), \quad L = N \mu_2^2"
)
_AVERAGING = r"\lambda = \frac{(\Delta_a + \Delta_b)^2}{\sigma_a^2 + \sigma_b^2}"
_NOISE_DENSITY = r"p(x) \propto \exp\left(-\frac{\lVert x \rVert}{c \sigma}\right), \quad "
_SENSITIVITY = r"\sigma^2 = O(1), \quad \Delta = \Omega(2^{n/3})"
_RATIO_TAIL = r"P(\lVert X - E X \rVert > t \sigma) \le t^{-k}"
_CLASSICAL = r"\sigma = \sqrt{2 \ln(1.25 / \delta)} \, \frac{\Delta}{\varepsilon}"
_SAMPLED = r"(\varepsilon, \delta) \mapsto \left(\log(1 + q (e^\varepsilon - 1)), q \delta\right)"

FORMULAS: dict[str, str] = {
    "azize-thm-2.1a": r"\mathrm{Pow}_n(\ell_n, \alpha, z^*) \ge \mathrm{Pow}_n(s, \alpha, z^*)",
    "azize-thm-2.1b": r"\mathrm{Adv}_n(1\{\ell_n > 0\}, z^*) \ge \mathrm{Adv}_n(A, z^*)",
    "azize-thm-2.1c": r"\mathrm{Adv}_n(1\{\ell_n > 0\}, z^*) = TV(p_{out}, p_{in})",
    "azize-thm-3.1-power": _POWER,
    "azize-thm-3.1-advantage": _ADVANTAGE,
    "azize-lemma-C.6": _NORMAL,
    "azize-eq-5": _SCORE,
    "azize-thm-3.1-threshold": _THRESHOLD,
    "azize-lemma-C.9": _EDGEWORTH,
    "azize-lemma-C.12": _EDGEWORTH_RHO,
    "azize-eq-11": r"\ell_n = \sum_j z_j \log\frac{\hat\mu_j}{\mu_j} + (1 - z_j) \log\frac{1 - \hat\mu_j}{1 - \mu_j}",
    "azize-eq-12-14": r"\Phi^{-1}(1 - \alpha) + \Phi^{-1}(1 - \beta) \sim \sqrt{d / n}",
    "azize-B.3": r"\mathrm{Adv}_n(A) = E_{z^* \sim D}[\mathrm{Adv}_n(A, z^*)]",
    "azize-mean-leakage": r"E_{z^* \sim D}[m^*] = \tau",
    "azize-mean-leakage-corrected": r"E_{z^* \sim D}\left[\frac{1}{n} \lVert z^* - \mu \rVert^2_{C^{-1}}\right] = \frac{d}{n}",
    "azize-thm-4.1": _NOISY,
    "azize-thm-4.2": r"\mathrm{Pow}_n \to \Phi(\Phi^{-1}(\alpha) + \sqrt{\rho m^*})",
    "azize-thm-4.2-corrected": r"\mathrm{Pow}_n \to \rho \, \Phi(\Phi^{-1}(\alpha) + \sqrt{m^* / \rho}) + (1 - \rho) \alpha",
    "azize-thm-4.3": _MISSPECIFIED + r"m_{targ}",
    "azize-thm-4.3-corrected": _MISSPECIFIED + r"m_{targ}",
    "azize-thm-4.3-curve": r"\beta(\alpha) \to \Phi\left(\Phi^{-1}(1 - \alpha) - \frac{|m_{scal}|}{\sqrt{m_{targ}}}\right)",
    "azize-thm-4.3-appendix": _MISSPECIFIED + r"m^*",
    "azize-gdp": _GDP,
    "azize-gdp-guarantee": r"T(M(D), M(D')) \ge G_{\sqrt{m^*}}",
    "azize-gdp-guarantee-corrected": r"T(M(D), M(D')) = 0",
    "azize-scalar-product": r"\mathrm{Pow}(s_{cov}, \alpha) \ge \mathrm{Pow}\left((z^* - z_{ref})^T \hat\mu, \alpha\right)",
    "azize-scalar-product-corrected": _SLOPE,
    "azize-scalar-product-curves": _SLOPE,
    "azize-scalar-product-finite": r"\mathrm{Pow}(s_{cov}, \alpha) \ge \mathrm{Pow}\left((z^* - z_{ref})^T \hat\mu, \alpha\right)",
    "azize-reference-points-corrected": _DISTANCE,
    "azize-reference-points-distance": _DISTANCE,
    "azize-z-estimators": _Z_PRINTED,
    "azize-z-estimators-corrected": _Z_CORRECTED,
    "azize-z-estimators-logistic": _Z_PRINTED,
    "azize-z-estimators-logistic-corrected": _Z_CORRECTED,
    "azize-alg-3": _CANDIDATE,
    "azize-alg-4": r"g_{batch} = \frac{\theta_{t + 1} - \theta_t}{\eta}",
    "azize-alg-4-corrected": r"g_{batch} = \frac{\theta_t - \theta_{t + 1}}{\eta}",
    "leemann-thm-4.1": r"\min\left\{ E[h(x)(\bar\alpha(x))] : E[\bar\alpha(x)] = \alpha \right\}",
    "leemann-thm-4.2": r"f\text{-DP} \Rightarrow f\text{-MIP}",
    "leemann-thm-4.2-corrected": r"G_\mu\text{-DP (add or remove)} \Rightarrow 2 \mu\text{-GMIP}",
    "leemann-thm-5.1": _STEP_PRINTED,
    "leemann-thm-5.1-corrected": _STEP_CENTRED,
    "leemann-thm-5.1-tight": _STEP_PRINTED,
    "leemann-thm-5.1-tight-corrected": _STEP_CENTRED,
    "leemann-thm-5.1-guarantee": _STEP_CENTRED,
    "leemann-thm-5.1-guarantee-corrected": _STEP_CENTRED,
    "leemann-cor-5.1": _STEP_MU,
    "leemann-cor-5.1-figure-2": _STEP_MU,
    "leemann-rem-5.1": r"K \sim \chi^2_d",
    "leemann-rem-5.1-corrected": r"E[K] = d, \quad K / d \to 1",
    "leemann-rem-5.1-mean": r"E[K] = d",
    "leemann-alg-1": r"S = (n - 1) (m - \theta)^T C^{-1} (m - \theta), \quad p_{step} = \log F^{-1}_{\chi^2_d(n K)}(S)",
    "leemann-alg-1-corrected": r"S = n (m - \theta)^T C^{-1} (m - \theta), \quad p_{step} = \log F_{\chi^2_d(n K)}(S)",
    "leemann-lemma-5.1": _LONG_RUN,
    "leemann-lemma-5.1-game": r"\mu = c \sqrt{e^{s^2} - 1}",
    "leemann-D.3": r"\mu = \sqrt{k} \, \mu_{step}",
    "leemann-lemma-5.1-finite": _LONG_RUN,
    "leemann-lemma-5.1-finite-corrected": r"(p f + (1 - p) \mathrm{Id})^{\otimes T}",
    "leemann-less-noise": r"\tau_{GMIP}(\mu) \le \tau_{GDP}(\mu)",
    "kaissis-lemma-9": (r"T(A, (1 - p) A + p B)(\alpha) = p \, T(A, B)(\alpha) + (1 - p)(1 - \alpha)"),
    "kaissis-thm-1": _LAPLACE,
    "kaissis-thm-2": _GAUSSIAN,
    "kaissis-cor-1": (
        r"j(\alpha) = \Phi(\Phi^{-1}(1 - \alpha / 2) - \mu_2) - \Phi(-\Phi^{-1}(1 - \alpha / 2) - \mu_2)"
    ),
    "kaissis-lemma-6": r"f' \ge f",
    "kaissis-lemma-8": _AVERAGING,
    "kaissis-lemma-8-corrected": r"\lambda = \frac{\Delta_a^2}{\sigma_a^2} + \frac{\Delta_b^2}{\sigma_b^2}",
    "kaissis-thm-3": _MANY,
    "kaissis-fig-2a": _MANY,
    "kaissis-thm-1-guarantee": r"T(P, Q) \ge J = \mathrm{Symm}(j, j^{-1}), \quad " + _LAPLACE,
    "kaissis-thm-2-guarantee": r"T(P, Q) \ge J = \mathrm{Symm}(j, j^{-1}), \quad " + _GAUSSIAN,
    "kaissis-lemma-9-guarantee": r"T(P, Q) \ge J_p = \mathrm{Symm}(j_p, j_p^{-1})",
    "kaissis-rero": r"1 - J(\kappa) \le 1 - f(\kappa)",
    "kaissis-rero-guarantee": r"P(\text{success}) \le 1 - J(\kappa)",
    "kaissis-rero-lengths": r"P(\text{success}) \le 1 - j(1 / N) \le 1 - J(1 / N)",
    "izzo-prop-2": (
        r"\sum_A \max\{P(x^* \in D_{train} \mid A), P(x^* \notin D_{train} \mid A)\} \, P(A) \le \frac{1}{2} + \eta"
    ),
    "izzo-thm-4": r"\eta = \delta + \frac{1 - \delta}{1 + e^{-\varepsilon}} - \frac{1}{2}",
    "izzo-prop-6": (
        r"\frac{P(x^* \notin D_{train} \mid A)}{P(x^* \in D_{train} \mid A)} "
        r"\le e^\varepsilon \frac{P(x^* \notin D_{train})}{P(x^* \in D_{train})}"
    ),
    "izzo-thm-8": r"TPR \le FPR + \eta",
    "izzo-thm-8-corrected": r"TPR \le FPR + 2 \eta",
    "izzo-thm-9": (
        _NOISE_DENSITY
        + r"c = \left(\frac{7.5}{\eta}\right)^{1 + 2 / M}, \quad \sigma^M \ge E \lVert \theta - E \theta \rVert^M"
    ),
    "izzo-cor-14": r"c = \left(\frac{6.16}{\eta}\right)^{1 + 2 / M}",
    "izzo-cor-10": r"\theta + r \frac{Y}{\lVert Y \rVert_{\sigma, M}}, \quad r \sim \mathrm{Laplace}\left((6.16 / \eta)^{1 + 2 / M}\right)",
    "izzo-cor-10-corrected": (
        r"\theta + r \frac{Y}{\lVert Y \rVert_{\sigma, M}}, \quad r \sim \mathrm{Gamma}\left(d, (6.16 / \eta)^{1 + 2 / M}\right)"
    ),
    "izzo-prop-11": _SENSITIVITY + r", \quad x_{last} = \binom{n}{n / 2}^{1/2} - \sum_{i \le n / 2 - 2} 2^i",
    "izzo-prop-11-corrected": _SENSITIVITY
    + r", \quad x_{last} = \binom{n}{m}^{-1/2} - \sum_{i \le m - 2} 2^i",
    "izzo-noise": (
        r"\left(\frac{6.16}{\eta}\right)^2 \sigma < \frac{\Delta}{\log\frac{1 + 2 \eta}{1 - 2 \eta}} \text{ for } n \ge 36"
    ),
    "izzo-lemma-13": r"E \lVert X - E X \rVert^2 \le \sigma^k \Rightarrow " + _RATIO_TAIL,
    "izzo-lemma-13-corrected": r"E \lVert X - E X \rVert^k \le \sigma^k \Rightarrow " + _RATIO_TAIL,
    "field-gaussian": _CLASSICAL,
    "field-central-limit": r"\mu = q \sqrt{T (e^{1 / \sigma^2} - 1)}",
    "field-sampling": _SAMPLED,
    "field-yeom": r"\mathrm{Adv} \le e^\varepsilon - 1",
    "field-humphries": r"\mathrm{Adv} \le \frac{e^\varepsilon - 1 + 2 \delta}{e^\varepsilon + 1}",
}
"""Name of a statement -> its formula; a correction without a line of its own claims what it corrects claims."""


def formula_of(name: str, corrects: str) -> str:
    """The formula of a statement, or of the one that it corrects; "" where words alone say it.

    Examples:
        >>> formula_of("azize-thm-3.1-power-corrected", "azize-thm-3.1-power") == FORMULAS["azize-thm-3.1-power"]
        True
    """
    return FORMULAS.get(name, FORMULAS.get(corrects, ""))
