"""The tools of agents: defined once, offered as the stores' modes allow, called with unchecked arguments."""
