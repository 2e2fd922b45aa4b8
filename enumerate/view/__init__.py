"""What people see of runs and tours: text, pictures, files and pages."""
