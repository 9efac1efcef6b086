"""What does a figure show, and where does the paper speak of it? One sentence or two for each."""

HELP = {
    "account": (
        "T is the time from the first decoding boundary to complete output and a drafter at rest. D: the drafter "
        "works, V: the target works, O: both at once, H: neither. Click a part to see where it lies. Paper: equation 9 "
        "and Appendix D.2.7."
    ),
    "aligned": (
        "Two runs of the same recording under each other. By time: who had more tokens at each moment. By token: who "
        "took less time up to each token, and in which part of the output the lead was made. Figure 6 shows one run "
        "of the paper like this."
    ),
    "cdf": (
        "For each speed, the share of windows that were decoded at most that fast; a curve further right is faster. "
        "Not smoothed. Paper: Figure 5, Appendix D.4.1."
    ),
    "gain": (
        "Each window's TPS against target-only on the same window. Below 0 % the method was slower than doing without "
        "it. Paper: Table 4, Section 5."
    ),
    "worst": "The windows with the least gain, with what is said in them, their recording and their timeline.",
    "differences": (
        "Both sides on the same windows: the difference of pooled TPS with its 95 % interval, from 2,000 paired "
        "resamples of windows. Paper: Appendix D.4.3."
    ),
    "history": (
        "Pooled TPS by day for each device and configuration. A mark is hollow where repetitions of a day do not "
        "agree with each other."
    ),
    "reduction": (
        "How much cheaper a token gets when the target verifies K tokens at once: 1 - cost(K) / (K cost(1)), with one "
        "standard deviation of a call. Paper: Figure 8, Appendix B.2."
    ),
    "costs": (
        "Time of one verification by its width K, the drafter at rest and beside a running drafter. Appendix D.2.1."
    ),
    "ratio": (
        "Verification beside a running drafter over the same alone: what sharing the memory costs the target. "
        "Appendix D.2.1."
    ),
    "drift": "The same costs over the profiles that were measured on this device, by date.",
    "published": (
        "The paper's printed number beside a replay of ours. Where they differ, the reason is given; nothing is tuned "
        "to a row."
    ),
    "budgets": (
        "Every proposal budget b on the same windows, the oracle that knows each window's best pair, and the controls "
        "of fixed width. Paper: Section 5, Appendices D.2.6 and D.4.3."
    ),
    "map": (
        "How much slower each budget is on each window than that window's best pair, the largest gap on top. "
        "A click opens the window. Appendix D.4.3."
    ),
    "freeze": (
        "A budget is screened on development windows, chosen on validation windows and written down; only then may "
        "test windows be looked at. Paper: Appendix D.2.6."
    ),
}
