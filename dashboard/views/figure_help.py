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
    "budgets": (
        "Pooled throughput (all tokens over all time) under every fixed budget b, with its 95 % interval over windows. "
        "Dashed: the oracle, the best pair of each window in hindsight. Click a mark to look at one budget; drag over "
        "several to let validation choose among them. Paper: Appendices D.2.5 and D.2.6."
    ),
    "splits": (
        "choice: development and validation windows, which a choice is made on. Once test windows were shown (test, "
        "all), only what validation chose can be frozen, not a pair picked by hand. Paper: Appendix D.2.6."
    ),
    "budget map": (
        "Each row is a window, each column a budget; the colour is how much throughput the budget loses there against "
        "the window's best pair. Click a cell to hear the window and see it run under that budget. Paper: Appendix "
        "D.2.5."
    ),
    "choice": (
        "Screened on development windows, chosen on validation windows, then written down as a file, and only then "
        "judged on test windows: a choice that has seen its test says nothing about other recordings. Paper: Appendix "
        "D.2.6."
    ),
    "devices": (
        "The same recorded tokens under every device's costs, as gain over that device's target-only. Ring: the "
        "fastest fixed budget; dashed: its oracle. What is best on one phone can be slow on another. Paper: "
        "Figure 8 and Appendix B.2."
    ),
}
