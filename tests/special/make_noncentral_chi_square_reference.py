"""Writes noncentral_chi_square_reference.csv: tails of the non-central chi-square law by mpmath's big floats.

Route: the Poisson mixture of central laws, all terms positive, summed over every index that matters; the
central law by its power series, and its upper tail as 1 minus that with as many digits as it takes. Nothing of mipsim is used.

    python tests/special/make_noncentral_chi_square_reference.py      (some ten minutes)
"""

import csv
from pathlib import Path

import mpmath as mp

FREEDOM = (1.0, 1.5, 2.0, 3.0, 3.7, 5.0, 10.0, 50.0, 1000.0, 1e6)
CENTRES = (0.0, 1e-3, 1.0, 30.0, 1e3, 1e5, 1e7, 1e8)
DEPTHS = (0.02, 0.3, 1.0, 8.0, 45.0, 228.0, 686.0)  # of the exponent at the saddle point: the last is 1e-298
FAR = 20000.0  # a depth for the log forms, tails of about 1e-8686
FILE = Path(__file__).with_name("noncentral_chi_square_reference.csv")


def saddle_point(d: float, centre: float, depth: float, upper: bool) -> float:
    """An x in the wanted tail: where the exponent is `depth`. It only places x; no tail rests on it."""
    side = mp.mpf(-1 if upper else 1)

    def exponent(log_w: mp.mpf) -> mp.mpf:
        y = 1 - mp.exp(-side * log_w)
        return mp.mpf(d) / 2 * (side * log_w - y) + mp.mpf(centre) / 2 * y * y

    low, high = mp.mpf(0), mp.mpf(1)
    while exponent(high) < depth:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if exponent(middle) > depth else (middle, high)
    inverse = mp.exp(-side * low)
    return float(d * inverse + centre * inverse**2)


def central_lower(a: mp.mpf, y: mp.mpf) -> mp.mpf:
    """Regularised lower incomplete gamma function, y^a e^-y / Gamma(a+1) sum_k y^k / ((a+1) ... (a+k))."""
    term = total = mp.mpf(1)
    k = 0
    while term > total * mp.mpf(10) ** (-mp.mp.dps):
        k += 1
        term *= y / (a + k)
        total += term
    return total * mp.exp(a * mp.log(y) - y - mp.loggamma(a + 1))


def smaller_tail(x: float, d: float, centre: float, depth: float, upper: bool) -> mp.mpf:
    """The tail on x's own side, about exp(-depth), to 20 digits."""
    y, rate, a = mp.mpf(x) / 2, mp.mpf(centre) / 2, mp.mpf(d) / 2
    inverse = 2 * mp.mpf(x) / (d + mp.sqrt(mp.mpf(d) ** 2 + 4 * mp.mpf(x) * centre))
    mode = rate * inverse  # about where the terms of the mixture are largest
    reach = 12 * mp.sqrt(mode) + 60
    first, last = max(0, int(mode - reach)), int(mode + reach)
    if centre == 0.0:
        first = last = 0
    start = first if upper else last
    with mp.workdps(80 + int(depth / 2.3) if upper else 40):
        tail = central_lower(a + start, y)
        tail = 1 - tail if upper else tail
    with mp.workdps(30):
        tail, total, least = +tail, mp.mpf(0), mp.mpf(0)
        weight = mp.exp(start * mp.log(rate) - rate - mp.loggamma(start + 1)) if centre else mp.mpf(1)
        # Q_{b+1} - Q_b = y^b e^-y / Gamma(b+1) = P_b - P_{b+1}
        b = a + start if upper else a + start - 1
        step = mp.exp(b * mp.log(y) - y - mp.loggamma(b + 1))
        for j in range(first, last + 1) if upper else range(last, first - 1, -1):
            least = weight * tail
            total += least
            tail += step
            if upper:
                step *= y / (a + j + 1)
                weight *= rate / (j + 1)
            else:
                step *= (a + j - 1) / y
                weight *= j / rate if centre else 0
        if centre and not (first == 0 and not upper):
            assert least < total * mp.mpf(10) ** (-24), (x, d, centre, upper)
        return total


def depths(d: float, centre: float) -> tuple[float, ...]:
    """Fewer where a sum takes 10^5 terms; the deepest where 9000 digits are quickly computed."""
    if centre >= 1e7:
        return DEPTHS[3::3]
    return (*DEPTHS, FAR) if centre <= 1e3 and d <= 50 else DEPTHS


def main() -> None:
    """Write the table: d, noncentrality, x, which tail, its value with 20 digits."""
    with FILE.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["d", "noncentrality", "x", "tail", "value"])
        for d in FREEDOM:
            for centre in CENTRES:
                for depth in depths(d, centre):
                    for upper in (False, True):
                        x = saddle_point(d, centre, depth, upper)
                        if x < 1e-300:
                            continue  # P of d = 1 reaches 1e-150 there, no further
                        value = smaller_tail(x, d, centre, depth, upper)
                        rows.writerow([d, centre, repr(x), "sf" if upper else "cdf", mp.nstr(value, 20)])
                file.flush()


if __name__ == "__main__":
    main()
