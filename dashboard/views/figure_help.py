"""What does a figure show, and where does the paper speak of it? One sentence or two for each."""

HELP = {
    "timeline": (
        "One bar a round of the target: pale = a step alone, green = accepted, orange with crosses = corrected; the "
        "coloured height is accepted over proposed. Below, the candidates that were ready at each boundary (line: "
        "budget b) and the drafter's batches, with an arrow to the first round that used each. Rounds that would be "
        "too narrow are merged. Click a bar to open it; wheel and drag zoom. Paper: Figures 4 and 6, Section 4.2."
    ),
    "live": (
        "What both models did from the first decoding boundary until both rested: rounds of the target, candidates "
        "ready, batches of the drafter. In the text, green underlined = accepted, orange = corrected, plain = decoded "
        "alone. Paper: Sections 4.1 and 4.2, Figure 4."
    ),
    "methods": (
        "Runs of the same recording under each other from the same zero: the target's rounds above, the drafter's "
        "work below. A shorter row is faster; white is where the target waited. Paper: Figure 6 and Section 5.3."
    ),
    "comparison": (
        "One bar a method: all tokens over all time of its runs on a device; each dot is one run. Failed runs are "
        "counted beside the bar and keep their row. Paper: Section 5.1 (the metric) and Section 5.2."
    ),
    "differences": (
        "Settings, devices and versions in which the runs differ; what is the same is left out unless asked for, so "
        "that a difference in speed can be laid to something. Paper: Section 5.1 (what was held fixed)."
    ),
    "waveform": (
        "Loudness of the recording over its seconds: the least and the greatest sample of each stretch, all channels "
        "mixed to one as the models hear them. One request hears at most 30 s: of a longer recording the rest is "
        "dimmed, and a drag chooses where the part begins. Paper: Section 5.1."
    ),
    "account": (
        "T is the time from the first decoding boundary to complete output and a drafter at rest. D: the drafter "
        "works, V: the target works, O: both at once, H: neither. Click a part to see where it lies. Paper: equation 9 "
        "and Appendix D.2.7."
    ),
    "window_speed": (
        "One curve a method: how many windows are no faster than a TPS. Farther right is faster; where two curves "
        "cross, one is better on slow windows and the other on fast ones. The oracle knows the best As²d budget of "
        "every window in hindsight. Click a curve to open the window there. Paper: Figure 5 and Section 5.2."
    ),
    "window_gain": (
        "One mark a window: TPS against target-only's on the same window. Pooled gains can hide windows that lose; "
        "crosses are those. Lay the marks out by length or acceptance to see what goes along with it. Paper: "
        "Section 5.2 (frequency of slowdowns), Tables 4 and 12."
    ),
    "window_reasons": (
        "The difference in time to target-only in three parts that sum up exactly: target steps that were saved, what "
        "the rounds cost beyond a K = 1 step each, and the time in which the target did not work (exposed drafting, "
        "drain, our own loop). Paper: equation 9, Appendix D.2.7 and D.7."
    ),
    "paired": (
        "Differences of pooled TPS over the windows that both have finished, with a 95 % bootstrap interval over "
        "windows (over repetitions where there is one window only); every window is a dot. n is what the mean rests "
        "on; a single pair has no interval. Failed and capped runs keep their row. Paper: Section 5.2, Appendix D.4.3."
    ),
    "cost_parts": (
        "T = D + V − O + H of all finished runs of a setting, in ms a committed token, cut into four parts that do not "
        "overlap: only the target works, both work, only the drafter works, neither does. A shorter bar is faster; "
        "what only the drafter does is drafting that is not hidden. Paper: equation 9 and Appendix D.2.7."
    ),
    "outputs": (
        "Every method is lossless: it must commit the tokens of target-only. Where a run does not, the place of the "
        "first other token and the fewest word edits to the reference's text are told. Paper: Section 3."
    ),
    "over_time": (
        "Every finished run by its date, and the pooled TPS of each day as a line. The newest day is held against the "
        "days before on the windows that both have, so that other recordings are not taken for another speed. "
        "Paper: Section 5.2 (pooled TPS)."
    ),
    "aligned": (
        "Two runs of the same recording under each other. By time: who had more tokens at each moment. By token: who "
        "took less time up to each token, and in which part of the output the lead was made. Figure 6 shows one run "
        "of the paper like this."
    ),
    "budgets": (
        "Pooled throughput (all tokens over all time) under every fixed budget b, with its 95 % interval over windows. "
        "Dashed: the oracle, the best pair of each window in hindsight. Click a mark to look at one budget; "
        "with the switch on, drag over several to let validation choose among them. Paper: Appendices D.2.5 and D.2.6."
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
    "widths": (
        "Mean of all calls of one verification, by its width K, with one standard deviation of single calls; the small "
        "marks are the calls, in the order in which they were made. Alone: only the target runs. Beside the drafter: "
        "the drafter runs at the same time. Paper: Appendix B.2 and D.2.2."
    ),
    "savings": (
        "How much less a position costs in a verification of width K than in one of width 1: "
        "100 (1 - V(K) / (K V(1))), equation 2. Bars are one standard deviation of single calls. Figure 8 of the paper."
    ),
    "concurrent": (
        "Verification beside the running drafter over verification alone: above 1, the drafter slows the target down. "
        "The shaded band spans the measured ratios. Paper: Appendix D.2.3 and D.4.3."
    ),
    "exactness": (
        "A width is exact when its rows are bit for bit those of single steps: only then is the output surely that of "
        "target-only. Widths that are not are computed at the next exact one. Paper: Appendix B.2."
    ),
    "costs": (
        "Milliseconds of one operation each, with the origin of every value. Rest of a round: what a round takes "
        "besides its model calls. Paper: section 4.3 and Appendix D.2.2."
    ),
    "pair": (
        "Each cost of the second profile over that of the first, width by width. Bars are one standard deviation of "
        "the ratio, from the calls of both. Hollow: one of the two was neither measured nor published. Paper: "
        "Section 4.3 and Appendix B.2."
    ),
    "drift": (
        "The same device and models at different dates, each cost relative to the first time. Bars are one standard "
        "deviation of single calls. Every measurement that a newer one replaced is kept for this. Paper: Appendix "
        "D.2 (calibration)."
    ),
    "published overview": (
        "One mark for each cell of the paper's tables: how far our figure is off, in percent of the printed one. "
        "The band is 5 %. Tables 1, 2, 4, 5, 8, 9, 10 and 12, and the cost scenarios of D.4.3 and D.5."
    ),
    "headline": (
        "Pooled TPS: all committed tokens over all time (section 5.1). Published and replayed: all five datasets of "
        "Table 8. Measured: windows that every method of the device ran to its end, repetitions averaged."
    ),
    "ledger": (
        "Each mark is a figure that follows from other printed figures: how far the recomputed one is off, in halves "
        "of its last printed digit. Outside the band it still agrees when the rounding of its inputs allows it. "
        "Paper: all tables of Section 5 and Appendix D."
    ),
    "deviations": (
        "Each mark is a cell: how far ours is off, in percent of the printed figure. The band is 5 %. Hover for the "
        "cell and why it differs. Paper: the table that is shown."
    ),
    "power": (
        "Power counters of a Perfetto trace that was taken in on the Reports page, on the clock of the run. Battery: "
        "current times voltage. Rails: what a part of the phone took between two readings of its energy counter. The "
        "shaded part, from request to rest, is what the energies are of. Paper: Appendix D.6."
    ),
    "sweep": (
        "Positions: one request at many places of a recording, as in Figure 5. Blocks: the recording end to end, with "
        "the lag that real time would have made, as in Figure 9. Sustained: one request again and again, with "
        "temperature, frequency and a verdict on drift. Paper: Section 5.4, Appendices D.6.1 and D.6.2."
    ),
}

_OF_VIEWS = {
    "cost parts": "cost_parts",
    "windows": "window_gain",
    "stored windows": "window_gain",
    "profile": "costs",
    "profile widths": "widths",
    "profile pair": "pair",
    "profile savings": "savings",
    "profile drift": "drift",
    "over time": "over_time",
    "replay": "timeline",
    "recording": "waveform",
    "published table": "deviations",
}


def view_help(view: str) -> str:
    """The same for what a figure cell of a notebook shows; empty for words and tables that say what they are."""
    return HELP.get(_OF_VIEWS.get(view, view), "")
