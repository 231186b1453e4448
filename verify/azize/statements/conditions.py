"""When the expansion behind theorem 3.1 holds: the conditions of its corrections, their proof, and what fails without."""

REGULAR = (
    "the coordinates are independent, and each is (B) Bernoulli(p_j), any p_j in (0, 1), with z_j in {0, 1} and max t_j^2/n -> 0 over these coordinates, or "
    "(D) of a law whose standardised version X has E|X|^(4 + delta) <= M and an N-fold convolution with a density <= B, "
    "with delta > 0, N, B and M the same for all coordinates and sizes, and any real z_j; as n grows d/n is bounded and "
    "m* = lim (1/n) sum_j t_j^2 exists and is finite"
)
"""In words for a statement; t_j = (z_j - mu_j)/sigma_j."""

DATA = (
    "(B) Bernoulli, any p_j in (0, 1), target in {0, 1}^d, max t_j^2/n -> 0; (D) standardised coordinates with (4 + delta)-th "
    "moments <= M and a density <= B of their N-fold convolution, with the same delta, N, B, M for all coordinates and sizes"
)
"""For the data of a domain."""

BERNOULLI = (
    "(B) A single Bernoulli coordinate. S is Binomial(n, p) out and z + Binomial(n - 1, p) in. The two mass functions divide to "
    "L = S/(np) for z = 1 and L = (n - S)/(n(1 - p)) for z = 0, and both are exactly L = 1 + g with g = t x / sqrt n, "
    "x = (S - np)/sqrt(np(1 - p)). So sum_j (L_j - 1 - g_j)^2 = 0. With excess kurtosis t^2 + t^-2 - 4 of a single record, "
    "E_out g^4 <= (t^4/n^2)(3 + (t^2 + t^-2)/n), hence sum_j E g_j^4 -> 0 if max t_j^2/n -> 0 and sum_j t_j^2/n is bounded. "
)

DENSITY = (
    "(D) A single coordinate with a density, shift h = t/sqrt n, x the standardised sum, p and q the densities of x out and in. "
    "(i) Uniform expansion: sup_x |p(x) - phi(x)(1 + l3 H3(x)/(6 sqrt n) + (l4 H4(x)/24 + l3^2 H6(x)/72)/n)| <= "
    "kappa n^(-1 - delta/2), with kappa of (N, B, M, delta) only (take delta <= 1, and a little less than the moments allow). This is theorem 1.1 "
    "of Bobkov, Chistyakov and Gotze (2011, arXiv 1104.3759) at s = 4 + delta, who state that it is uniform over laws with a single bound of that density and "
    "a single bound of the moments' tails; for moments of whole order it is Petrov's (see there). It is uniform because each step of the proof is: near 0, |u| <= c(M) sqrt n, the "
    "(4 + delta)-th moment bounds the Taylor remainder of log f; beyond, |f(u)| <= 1 - eta(N, B, M), for if the N-fold sum S has "
    "|E exp(iuS)| = 1 - e, then |uS - theta| mod 2 pi exceeds a with probability <= e/(1 - cos a), while a density <= B gives "
    "the rest of |S| <= 2 sqrt N (probability >= 3/4) at most 2aB(2 sqrt N/pi + 1/c), below 1/4 for small a, so "
    "e >= (1 - cos a)/2; and the integral of |f|^(2N) is <= 2 pi B by Plancherel. "
    "(ii) Let A = {|x| <= sqrt(2(1 + delta/4) log n)}. Integrating (i), P(A^c) = O(n^(-1 - delta/8)), and the same for Q if "
    "|h| <= n^(-1/8). On A, p >= phi/2 for large n, and expanding phi((x - h)/r)/r, r^2 = 1 - 1/n, and the polynomials, "
    "|q - p(1 + hx)| <= kappa phi(x)(1 + |x|^9)(h^2 + 1/n) + kappa n^(-1 - delta/2). Hence E_out[(L - 1 - hx)^2; A] <= "
    "kappa (h^2 + 1/n)(h^2 + n^(-3 delta/4) + 1/n), because the integral of 1/phi over A is at most n^(1 + delta/4). "
    "With d/n bounded, the sum over the coordinates with |h_j| <= n^(-1/8) tends to 0, and so do sum P_j(A_j^c) and "
    "sum Q_j(A_j^c). (iii) At most m n^(1/4) coordinates have |h_j| > n^(-1/8). By (i) each of their pairs is within "
    "O(n^(-1/2)) in total variation of N(0, 1) against N(h_j, 1), whose ratio is exactly h_j x - h_j^2/2; together that "
    "changes the two worlds by O(n^(-1/4)). "
)

SUM = (
    "Together. The coordinates of (iii) add an exactly normal ratio with these moments, independent of the rest. For the rest put "
    "xi_j = (L_j - 1) 1{A_j} and g_j = h_j x_j (all of (B): A_j everything). Under H0 the coordinates are independent, sum E(xi_j - g_j)^2 -> 0, sum |E xi_j| -> 0 and sum E g_j^2 = sum t_j^2/n -> m*; fourth moments give "
    "Lindeberg's condition, max |g_j| -> 0 and sum g_j^2 -> m* in probability. So l_n = sum log(1 + xi_j) = "
    "sum xi_j - (1/2) sum xi_j^2 + o_P(1) = sum g_j - m*/2 + o_P(1), which is equation 5, and sum g_j => N(0, m*) by "
    "Lindeberg. Le Cam's first lemma (van der Vaart 1998, lemma 6.4) makes H1 contiguous to H0, so equation 5 holds there too, "
    "and his third (theorem 6.6) gives l_n => N(+m*/2, m*) under H1. Then TV = E_out(1 - exp l_n)^+ tends to "
    "2 Phi(sqrt(m*)/2) - 1, and where m* > 0 the limit laws are continuous, so that level and power at each threshold, and the "
    "optimal curve uniformly, tend to those of N(-+m*/2, m*). At m* = 0 the total variation tends to 0, so that level and "
    "power of every test tend to each other, but no single threshold serves all levels, and without lots at ties some are out of reach: with "
    "p_j = n^-4, z_j = 0 and d = n all sums are 0 but for a probability of n^-2, the ratio has a single value, and the largest power of its "
    "thresholds of level at most alpha < 1 tends to 0, not alpha. "
)

FAILS = (
    "What fails without them. Off the lattice: a target in (0, 1) of Bernoulli data makes the sum a number that no data set without it "
    "gives. Cramer's condition is too little: the Cantor law has it (|f(u)| <= cos(pi/6) for |u| >= pi/2), but every sum of "
    "Cantor records is singular and the two worlds are mutually singular at every n, for almost every target: with "
    "f = E exp(2 pi i X) = .371, the mean of exp(2 pi i 3^k (S - z)) over k tends to f^(n+1) out and f^(n-1) in. A single lattice with "
    "the target on it is too little where it is not uniform: values 0, 1, 2 with P(1) = 1/(8j) and target 1 = mu_j have bounded "
    "standardised moments and t = 0, but the parity of coordinate n's sum gives the target away. Rationally independent atoms let the sum "
    "count the target's own atom, which leaks (1/p - 1)/n > t^2/n. A coordinate with t^2/n not small and a single rare value stays "
    "Poisson. So does, in part, a density without bounded moments: N(0, 1/2) and, with probability 1/n, a jump of +-sqrt(n/2), a single coordinate "
    "with t^2/n = m. Without a bound on d/n the second order counts: Gaussian data with z = mu have m = 0, but the variances n and n - 1 of their "
    "sums differ by a divergence of 1/(4n^2), which d = n^2 coordinates show. "
)

MEAN = BERNOULLI + DENSITY + SUM + FAILS
"""The derivation that the corrections of theorem 3.1 and of what follows from it share."""
