"""ReFrame's log in the folder where it is started, else it stays behind among temporary files."""

import copy

from reframe.core.settings import site_configuration as own

site_configuration = {"logging": copy.deepcopy(own["logging"])}
site_configuration["logging"][0]["handlers"][0]["name"] = "reframe.log"
