"""The optimal curve of many independent coordinates, between those of finite experiments that see less and more."""
