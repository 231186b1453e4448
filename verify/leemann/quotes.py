"""The sentences of Leemann, Pawelczyk & Kasneci (2023) that are judged, and those that restrict them."""

from mipsim.referee import Quote

THEOREM_4_1 = Quote(
    "The stochastic composition of trade-off functions h(x) maintains the characteristics of a trade-off function, i.e., it "
    "is convex, non-increasing, (⊗ h(x))(r) <= 1 - r for all r in [0, 1], and it is continuous at zero.",
    "theorem 4.1",
)
MINIMUM_EXISTS = Quote("(supposing the minimum exists)", "definition 4.1, below equation 6")
THEOREM_4_2 = Quote(
    "Let an algorithm A : D^n → R^d be f-differentially private [11]. Then, algorithm A will also be f-membership inference "
    "private.",
    "theorem 4.2",
)
DIFFER_BY_ONE = Quote(
    "An algorithm is DP if for any two neighboring datasets S, S' (that differ by one instance) ...",
    "section 3",
)
ADDED_INSTANCE = Quote(
    "Attacker has full data access. For example, the attacker can poison or adversarially construct datasets on which ML "
    "models could be trained; e.g., S = {} and S' = {10^6}.",
    "table 1, dataset access of the f-DP threat model",
)
THEOREM_5_1 = Quote(
    "Let the gradients θ' ∈ R^d of the test points follow a distribution with mean μ and covariance Σ, let K >= "
    "||Σ^-1/2 θ'||² and define n_effective = n + τ²n²/C². For sufficiently large batch sizes n, one step of noisy SGD is "
    "f-membership inference private with trade-off function given by: β(α) ≈ 1 - F_{χ²_d((n_effective - 1)K)}( n_effective / "
    "(n_effective - 1) F^-1_{χ²_d(n_effective K)}(α) ).",
    "theorem 5.1 and equation 8",
)
LARGE_BATCHES = Quote(
    "We establish the following theorem using the Central Limit Theorem (CLT) for means of adequately large batches of n "
    "sample gradients ...",
    "section 5.1, before theorem 5.1",
)
CENTRED_K = Quote("K̂ = ||Σ̂^-1/2 (θ - μ̂)||² ▷ Estimate gradient susceptibility", "algorithm 1, line 9")
ALL_DISTRIBUTIONS = Quote(
    "This initial step ... is (1) as general as possible covering all distributions with finite variance and is (2) optimal in "
    "the sense of the Neyman-Pearson Lemma, i.e., it cannot be improved.",
    "remark 5.2",
)
EXTREME_GRADIENTS = Quote(
    "It is worth noting that if we do not restrict the gradient distribution or its support, then there might always exist "
    "gradient samples that significantly distort the mean, revealing their membership in the training dataset.",
    "section 5.1, after corollary 5.1",
)
CLIPPING = Quote(
    "gradient clipping (i.e., θ_i := g(x_i, y_i) · max(1, C/||g(x_i, y_i)||) ...)",
    "section 3.3; max where only min bounds the norms by C, which the name and n_effective ask for",
)
COROLLARY_5_1 = Quote(
    "For large d, n, noisy SGD is approximately g_{μ_Step}-GMIP. In particular, β(α) ≈ Φ(Φ^-1(1 - α) - μ_Step) with privacy "
    "parameter: μ_Step = (d + (2n_effective - 1)K) / (n_effective sqrt(2d + 4n_effective K)).",
    "corollary 5.1 and equation 9",
)
REMARK_5_1 = Quote(
    "When the dimensions of the uncorrelated components in Σ^-1/2 θ' are also independent, we expect K to follow a "
    "χ²-distribution with d degrees of freedom and thus K ∈ O(d). In the standard SGD-regime (τ² = 0) with d, n >> 1, we "
    "obtain μ ∈ O(sqrt(d/n)).",
    "remark 5.1",
)
K_EQUALS_D = Quote(
    "In this case, we can estimate K accurately and observe that our bounds are tight when the distribution parameters and "
    "thus the respective gradient susceptibilities can be computed accurately. ... The analytical solutions are computed with a "
    "value of K = d ...",
    "section 6.1 and the caption of figure 2",
)
SMALL_SIZES = Quote(
    "We provide additional ablation studies that gauge the approximation quality of with small values for d, n and different "
    "simulated distributions in Appendix C.2.",
    "section 6.1",
)
LEMMA_5_1 = Quote(
    "If a single SGD-Step is at least as hard as μ_step-GMIP with respect to the samples that were part of the batch and "
    "n sqrt(t) / N → c as lim_{t→∞} (the batch size is gradually decreased), then the noisy SGD algorithm will be μ-GMIP with "
    "μ = sqrt(2) c sqrt(exp(μ_step²)Φ(1.5 μ_step) + 3Φ(-0.5 μ_step) - 2).",
    "lemma 5.1 and equation 10",
)
LEMMA_5_1_TITLE = Quote("Asymptotic convergence of infinite DP-SGD", "title of lemma 5.1")
FINITE_RUN = Quote(
    "Note that this result also provides a (loose) bound for the case where exactly T iterations are run with a batch size of "
    "n' with c = n' sqrt(T) / N (through using n(t) = n' if t <= T, else n(t) = n' sqrt(T) / sqrt(t)).",
    "section 5.2, after lemma 5.1",
)
INDEPENDENT_STEPS = Quote(
    "This mismatch occurs since the theoretical analysis is based on the premise that the attacker gains access to "
    "independently sampled gradient means for each step to separate training and non-training points ...",
    "section 6.1",
)
COMPOSITION = Quote(
    "The next lemma provides such a result for μ-GMIP and follows from a result that holds for hypotheses tests between "
    "Gaussian random variables due to Dong et al. [11] (see Appendix D.3 for details and more results). ... using the composition "
    "result for k steps in Appendix D.3",
    "section 5.2 and the caption of figure 2",
)
ALGORITHM_1 = Quote(
    "Ŝ = (n-1) (m_t - θ)' Σ̂^-1 (m_t - θ) ▷ Compute test statistic ... p_step = log F^-1_{χ²_d(nK̂)}(Ŝ)",
    "algorithm 1, lines 8 and 10",
)
P_VALUE = Quote("▷ Compute log p-value under H_0", "algorithm 1, the comment of line 10")
ESTIMATED_MOMENTS = Quote(
    "In practice, however, the empirical estimates of μ̂, Σ̂^-1 and thus K̂ will be noisy and therefore we do not expect that "
    "the empirical trade-off curves match the analytical curves exactly.",
    "section 6.1, after algorithm 1",
)
LESS_NOISE = Quote(
    "Due to Theorem 4.2, we never need to add more noise for μ-GMIP than for μ-DP.", "section 6.2"
)
CALIBRATION = Quote(
    "We can do so both for μ-GMIP using the result in Equation (10) and using the result by Dong et al. [11, Corollary 4] for "
    "μ-GDP, which result in the same attack success rates while μ-GDP allows for stronger privacy threat models.",
    "section 6.2",
)
