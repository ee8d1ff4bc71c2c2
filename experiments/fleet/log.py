"""Puts ReFrame's log in its working folder instead of among temporary files."""

import copy

from reframe.core.settings import site_configuration as own

site_configuration = {"logging": copy.deepcopy(own["logging"])}
site_configuration["logging"][0]["handlers"][0]["name"] = "reframe.log"
