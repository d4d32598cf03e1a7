"""On the robustness of self-attentive models (Hsieh et al., ACL 2019)."""
