"""The HTML page: facts first, then markup; nothing is loaded, nothing is sent."""
