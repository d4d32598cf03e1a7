"""What makes a target this very target: hashes of its files, its contents or its code."""
