"""Sentences of Leemann, Pawelczyk & Kasneci (2023) that several statements quote."""

from mipsim.referee import Quote

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
TYPICAL_SAMPLES = Quote(
    "The sample x' for which membership is to be inferred is drawn from the data distribution D. Therefore, MI is concerned with typical "
    "samples that can occur in practice.",
    "table 1, protected instances of the f-MIP threat model; definition 4.2 composes over x' ~ D",
)
COROLLARY_5_1 = Quote(
    "For large d, n, noisy SGD is approximately g_{μ_Step}-GMIP. In particular, β(α) ≈ Φ(Φ^-1(1 - α) - μ_Step) with privacy "
    "parameter: μ_Step = (d + (2n_effective - 1)K) / (n_effective sqrt(2d + 4n_effective K)).",
    "corollary 5.1 and equation 9",
)
LARGE_BATCHES = Quote(
    "We establish the following theorem using the Central Limit Theorem (CLT) for means of adequately large batches of n "
    "sample gradients, which is proven in Appendix E.",
    "section 5.1, before theorem 5.1",
)
CENTRED_K = Quote("K̂ = ||Σ̂^-1/2 (θ - μ̂)||² ▷ Estimate gradient susceptibility", "algorithm 1, line 9")
ALL_DISTRIBUTIONS = Quote(
    "Our proof approach consists of two key steps: First, we establish the optimal LRT under general gradient distributions, "
    "without adding noise or imposing any cropping constraints (See Appendix E.1). This initial step serves as the foundation "
    "for our subsequent analysis and is (1) as general as possible covering all distributions with finite variance and is (2) "
    "optimal in the sense of the Neyman-Pearson Lemma, i.e., it cannot be "
    "improved.",
    "remark 5.2",
)
CLIPPING = Quote(
    "In summary, the algorithm consists of three fundamental steps: gradient clipping (i.e., θ_i := g(x_i, y_i) · max(1, "
    "C/||g(x_i, y_i)||) where g(x_i, y_i) = ∇L(x_i, y_i) is the gradient with respect to the loss function L), aggregation "
    "(i.e., m = (1/n) sum_{i=1}^n θ_i) and adding Gaussian noise (i.e., m̃ = m + Y where Y ~ N(0, τ²I) with variance "
    "parameter τ²).",
    "section 3.3; max where only min bounds the norms by C, which the name and n_effective ask for",
)
REMARK_5_1 = Quote(
    "When the dimensions of the uncorrelated components in Σ^-1/2 θ' are also independent, we expect K to follow a "
    "χ²-distribution with d degrees of freedom and thus K ∈ O(d). In the standard SGD-regime (τ² = 0) with d, n >> 1, we "
    "obtain μ ∈ O(sqrt(d/n)).",
    "remark 5.1",
)
K_EQUALS_D = Quote(
    "In Figure 2a, we use a simulated gradient distribution with known parameters μ, Σ^-1 and d. In this case, we can "
    "estimate K accurately and observe that our bounds are tight when the distribution parameters and thus the respective "
    "gradient susceptibilities can be computed accurately. [...] The analytical solutions are computed with a value of K = "
    "d and using the composition result for k steps in Appendix D.3 for (c).",
    "section 6.1 and the caption of figure 2",
)
SMALL_SIZES = Quote(
    "We provide additional ablation studies that gauge the approximation quality of with small values for d, n and different "
    "simulated distributions in Appendix C.2.",
    "section 6.1",
)
INDEPENDENT_STEPS = Quote(
    "This mismatch occurs since the theoretical analysis is based on the premise that the attacker gains access to "
    "independently sampled gradient means for each step to separate training and non-training points, but in practice we do "
    "not gain much new information as the model updates are not statistically independent and too incremental to change the "
    "gradient means significantly between two subsequent steps.",
    "section 6.1",
)
EXACTLY_T = Quote(
    "Note that this result also provides a (loose) bound for the case where exactly T iterations are run with a batch size of "
    "n' with c = n' sqrt(T) / N (through using n(t) = n' if t <= T, else n(t) = n' sqrt(T) / sqrt(t)).",
    "section 5.2, after lemma 5.1",
)
ALGORITHM_1 = Quote(
    "Ŝ = (n-1) (m_t - θ)' Σ̂^-1 (m_t - θ) ▷ Compute test statistic ... p_step = log F^-1_{χ²_d(nK̂)}(Ŝ)",
    "algorithm 1, lines 8 and 10",
)
SKETCH = Quote(
    "We provide a sketch of the implementation in Algorithm 1 and additional details in Appendix C.3.",
    "section 6.1",
)
P_VALUE = Quote("▷ Compute log p-value under H_0", "algorithm 1, the comment of line 10")
NOISY_MOMENTS = Quote(
    "In practice, however, the empirical estimates of μ̂, Σ̂^-1 and thus K̂ will be noisy and therefore we do not expect that "
    "the empirical trade-off curves match the analytical curves exactly.",
    "section 6.1, after algorithm 1",
)
