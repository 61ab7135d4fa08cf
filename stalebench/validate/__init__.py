"""Base validity of pulls, and the control on the human patches of valid pairs."""

from stalebench.validate.check import Checked, CheckJob, check
from stalebench.validate.control import ControlJob, Controlled, control
from stalebench.validate.workspace import Site, Workspace

__all__ = ["CheckJob", "Checked", "ControlJob", "Controlled", "Site", "Workspace", "check", "control"]
