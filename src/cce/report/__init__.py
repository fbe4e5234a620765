"""Renderers: pure functions from a Report to text. They decorate and never compute."""
