# How programs reach rushlight under torch's name: alias.py (imports), script.py and notebook.py
# (`rushlight run`), extension.py (%load_ext). Nothing here is imported by `import rushlight`.
