"""What single checks say of catalogs made for the purpose."""
