"""The methods by name. A module of a peer is imported only when one of its methods runs."""
import importlib

# name -> (module, class, arguments)
METHODS = {
    "remede": ("ours", "Remede", [[]]),
    "remede --trees 4": ("ours", "Remede", [["--trees", "4"]]),
    "remede --form paper": ("ours", "Remede", [["--form", "paper"]]),
    "remede --memory 0": ("ours", "Remede", [["--memory", "0"]]),
    "majority": ("naive", "Majority", []),
    "last-value": ("naive", "LastValue", []),
    "tree-lags": ("boosting", "Table", ["PlainTree", "lags"]),
    "tree-averages": ("boosting", "Table", ["PlainTree", "averages"]),
    "xgboost-lags": ("boosting", "Table", ["XGBoost", "lags"]),
    "xgboost-averages": ("boosting", "Table", ["XGBoost", "averages"]),
    "catboost-lags": ("boosting", "Table", ["CatBoost", "lags"]),
    "catboost-averages": ("boosting", "Table", ["CatBoost", "averages"]),
    "gru": ("networks", "Recurrent", ["GRU"]),
    "lstm": ("networks", "Recurrent", ["LSTM"]),
    "state-space": ("networks", "Recurrent", ["StateSpace"]),
    "minirocket": ("rocket", "MiniRocket", []),
}
PACKAGES = {"tree": ["scikit-learn"], "xgboost": ["xgboost", "scikit-learn", "pandas"], "catboost": ["catboost"], "gru": ["torch"], "lstm": ["torch"], "state": ["torch"]}


def packages_of(methods):
    """What must be installed for these, numpy first."""
    return list(dict.fromkeys(["numpy", *(p for m in methods for p in PACKAGES.get(m.split("-")[0], []))]))


def is_ours(name):
    return name.startswith("remede")


def make(name):
    module_name, kind, arguments = METHODS[name]
    module = importlib.import_module(f"real.{module_name}")
    if module_name == "boosting":
        arguments = [getattr(module, arguments[0]), arguments[1]]
    return getattr(module, kind)(*arguments)
