"""What stands where nothing was audited yet, and what there is to set up."""
