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
}
