"""Types of the extension module."""

import os
from typing import Any

import numpy as np
import numpy.typing as npt

__version__: str

class RawDataset:
    n_rows: int
    n_queries: int
    feature_ids: list[int]
    feature_names: list[tuple[int, str]]
    labels: npt.NDArray[np.float32]
    fingerprint: str
    has_weights: bool
    has_pairs: bool
    is_binned: bool
    absent: str
    doc_ids: list[str] | None
    @staticmethod
    def from_dense(
        values: npt.NDArray[Any], columns: dict[str, Any], n_jobs: int | None, params: dict[str, Any] | None
    ) -> RawDataset: ...
    @staticmethod
    def from_csr(
        indptr: npt.NDArray[np.int64],
        indices: npt.NDArray[np.int64],
        values: npt.NDArray[Any],
        columns: dict[str, Any],
        n_jobs: int | None,
    ) -> RawDataset: ...
    @staticmethod
    def from_files(paths: list[str], absent: str, n_jobs: int | None) -> RawDataset: ...
    @staticmethod
    def synthetic(
        preset: str, rows: int, features: int | None, seed: int, n_jobs: int | None
    ) -> RawDataset: ...
    def select(self, queries: list[int], n_jobs: int | None) -> RawDataset: ...
    def to_binned(self, params: dict[str, Any], n_jobs: int | None) -> RawDataset: ...
    def save_binned(self, path: str, params: dict[str, Any], n_jobs: int | None) -> None: ...
    def to_array(self) -> npt.NDArray[np.float32]: ...
    def queries(self) -> tuple[list[str], npt.NDArray[np.uint32]]: ...
    def remarks(self) -> list[str]: ...
    def remarks_on_valid(self, valid: RawDataset) -> list[str]: ...

class RawModel:
    def remarks(self, data: RawDataset) -> list[str]: ...
    def predict_dense(
        self, values: npt.NDArray[Any], columns: list[int] | None = None, n_jobs: int | None = None
    ) -> npt.NDArray[np.float64]: ...
    def predict(self, data: RawDataset, n_jobs: int | None) -> npt.NDArray[np.float64]: ...
    def leaves(
        self, values: npt.NDArray[np.float64], columns: list[int] | None = None, n_jobs: int | None = None
    ) -> npt.NDArray[np.int32]: ...
    def contributions(
        self,
        values: npt.NDArray[np.float64],
        columns: list[int] | None = None,
        background: npt.NDArray[np.float64] | None = None,
        n_jobs: int | None = None,
    ) -> tuple[npt.NDArray[np.float64], list[float]]: ...
    def first_rounds(self, n_rounds: int) -> RawModel: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def export(self, format: str, missing_as_zero: bool = False, allow_rounding: bool = False) -> bytes: ...
    def importance(self) -> list[tuple[int, int, float]]: ...
    def facts(self) -> dict[str, Any]: ...

def load_model(path: str | os.PathLike[str]) -> RawModel: ...
def model_from_bytes(bytes: bytes) -> RawModel: ...
def aliases() -> dict[str, str]: ...
def grows_trees(params: dict[str, Any]) -> bool: ...
def nearest_parameter(name: str) -> str | None: ...
def preset(name: str) -> list[tuple[str, str]]: ...
def arrow_table(
    table: Any, qid: str | None, only: set[str] | None, n_jobs: int | None
) -> tuple[list[str], npt.NDArray[Any], Any]: ...
def evaluate(
    data: RawDataset,
    scores: npt.NDArray[np.float64],
    metrics: str,
    rules_given: list[tuple[str, str]],
    n_jobs: int | None,
) -> list[tuple[str, float | None, list[float | None]]]: ...
def evaluate_run(
    qrels: dict[Any, dict[Any, Any]],
    run: dict[Any, dict[Any, Any]],
    metrics: str,
    rules_given: list[tuple[str, str]],
    n_jobs: int | None,
) -> tuple[list[str], list[tuple[str, float | None, list[float | None]]], list[str]]: ...
def compare_runs(
    qrels: dict[Any, dict[Any, Any]],
    runs: list[tuple[str, dict[Any, dict[Any, Any]]]],
    metrics: str,
    rules_given: list[tuple[str, str]],
    options: tuple[str, int | None, bool, str | None, float, int],
    n_jobs: int | None,
) -> dict[str, Any]: ...
def compare(
    data: RawDataset,
    systems: list[tuple[str, npt.NDArray[np.float64]]],
    metrics: str,
    rules_given: list[tuple[str, str]],
    options: tuple[str, int | None, bool, str | None, float, int],
    n_jobs: int | None,
) -> dict[str, Any]: ...
def train(
    params: dict[str, Any],
    data: RawDataset,
    valid: list[tuple[str, RawDataset]],
    start: RawModel | None = None,
    callback: Any = None,
    objective: Any = None,
    metrics: Any = None,
    learning_rate: Any = None,
    n_jobs: int | None = None,
) -> tuple[RawModel, dict[str, Any]]: ...
def auto(
    params: dict[str, Any],
    data: RawDataset,
    valid: RawDataset | None,
    budget: tuple[float | None, int | None],
    refit: RawDataset | None = None,
    callback: Any = None,
    n_jobs: int | None = None,
) -> tuple[RawModel, dict[str, Any]]: ...
def cross_validate(
    systems: list[tuple[str, dict[str, Any]]],
    data: RawDataset,
    folds: int | npt.NDArray[np.int64],
    rotate: bool = False,
    seed: int = 0,
    n_jobs: int | None = None,
) -> dict[str, Any]: ...
def tune_parameters(
    params: dict[str, Any],
    data: RawDataset,
    valid: RawDataset | None,
    test: RawDataset | None,
    space: dict[str, Any] | None,
    search: tuple[str, bool, int, int],
    callback: Any = None,
    n_jobs: int | None = None,
) -> tuple[RawModel, dict[str, Any]]: ...
