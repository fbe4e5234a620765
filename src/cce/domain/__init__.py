"""The nouns both wings share: frozen values, standard library only."""
