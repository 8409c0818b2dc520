"""Presets: the defaults of other libraries."""

import pytest
import rankwise


def test_the_preset_has_the_defaults_of_lightgbm():
    lightgbm = pytest.importorskip("lightgbm")
    settings = rankwise.preset("lightgbm")
    theirs = lightgbm.LGBMRanker().get_params()
    for name, theirs_name in [("num_trees", "n_estimators"), ("lambda_l2", "reg_lambda"), ("num_leaves", "num_leaves")]:
        assert settings[name] == theirs[theirs_name]
    assert settings["learning_rate"] == theirs["learning_rate"]
    with pytest.raises(ValueError, match="unknown preset \"mine\": expected lightgbm"):
        rankwise.preset("mine")
