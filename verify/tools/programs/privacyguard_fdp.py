"""PrivacyGuard 0.0.2: epsilon of `FDPAnalysisNode` where half of all guesses are right, as by coins.

Its candidate noises end at 9.991; when none of them is refuted, epsilon of the last noise is the answer.
"""

from privacy_guard.analysis.mia.fdp_analysis_node import FDPAnalysisNode  # pyright: ignore[reportMissingImports]

guesses = 20
for right in (0, 5, 10):
    node = FDPAnalysisNode(m=guesses, c=right, c_cap=guesses, threshold=0.05, delta=1e-6)
    epsilon = node.run_analysis().eps
    print(f"{right} of {guesses} guesses are right: epsilon {epsilon:.4f}")
    assert epsilon > 0.3
