"""Configurations of training runs: three that were published with their epsilon, each spelling, and what is refused."""

import importlib.util
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import mipsim as mi
from mipsim.referee.command import main
from mipsim.tradeoff.training import _SAMPLINGS, _SPELT, read_training

OPACUS = "https://github.com/pytorch/opacus/blob/main/examples/mnist_README.md, 240 steps an epoch by its progress bar"
TENSORFLOW = (
    "https://github.com/tensorflow/privacy/blob/047e1eef0e446daf41a9adbb712c546ebbd38c12/tutorials/README.md"
)
PUBLISHED = [
    (OPACUS, {"sigma": 1.3, "sample-rate": 0.004, "epochs": 15, "steps_per_epoch": 240}, 1.19),
    (OPACUS, {"sigma": 0.7, "sample-rate": 0.004, "epochs": 45, "steps_per_epoch": 240}, 7.10),
    (TENSORFLOW, {"noise_multiplier": 1.12, "batch_size": 256, "dataset_size": 60_000, "epochs": 60}, 2.92),
]
"""Source, what it says, and the epsilon that it reports at delta 1e-5, of Poisson samples by Renyi divergences."""
MNIST = "https://github.com/pytorch/opacus/blob/0ee7b8c0c19bc89ea4152e462707eceed1f555f8/examples/mnist.py, all options"
OPTIONS = {"batch_size": 64, "test_batch_size": 1024, "epochs": 10, "n_runs": 1, "lr": 0.1, "sigma": 1.0, "max_per_sample_grad_norm": 1.0, "delta": 1e-5,
           "device": "cuda", "save_model": False, "disable_dp": False, "secure_rng": False, "data_root": "../mnist"}  # fmt: skip
TUTORIAL = "https://github.com/tensorflow/privacy/blob/01ab549902200724d9b2288817325b70a1b1e09f/tutorials/mnist_dpsgd_tutorial.py, all flags"
FLAGS = {"dpsgd": True, "learning_rate": 0.08, "noise_multiplier": 1.12, "l2_norm_clip": 1.0, "batch_size": 256, "epochs": 60, "microbatches": 256,
         "model_dir": None}  # fmt: skip
WIDE = "https://github.com/google-deepmind/jax_privacy/blob/22da50a3/experiments/image_classification/configs/cifar10_wrn_16_4_eps1.py"
UPDATES = {"num_updates": 725, "optimizer": {"name": "sgd", "lr": {"init_value": 2.0}}, "training": {
    "batch_size": {"init_value": 4096, "per_device_per_step": 64, "scale_schedule": None},
    "dp": {"target_delta": 1e-5, "clipping_norm": 1.0, "stop_training_at_epsilon": 1.0, "noise": {"std_relative": 10.0}, "auto_tune": None}},
    "averaging": {"ema": {"coefficient": 0.9999, "start_step": 0}}, "data": {"augmult": 16}, "evaluation": {"batch_size": 100}}  # fmt: skip
FILES: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("https://github.com/ebagdasa/differential-privacy-vs-fairness/blob/564fb55d/params/params_cifar10_S1z0.8.yaml",
     {"test_batch_size": 100, "batch_size": 256, "num_microbatches": 256, "S": 1, "z": 0.8, "dp": True, "epochs": 240,
      "save_on_epochs": [10, 50], "ds_size": 10_000, "fixed_n_train": 10_000, "number_of_entries_test": 1000}, {"sampling": "poisson"},
     "a step has 256 of 10000 records; an epoch has 39 or 40 steps"),
    ("https://github.com/nv-tlabs/DPDM/blob/37fbcbd6/configs/mnist_28/train_eps_10.0.yaml",
     {"sampler": {"type": "ddim", "num_steps": 50, "snapshot_batch_size": 64}, "train": {"batch_size": 4096, "n_epochs": 300},
      "dp": {"max_grad_norm": 1.0, "delta": "1e-5", "epsilon": 10.0, "max_physical_batch_size": 8192, "n_splits": 4}},
     {"sampling": "poisson", "data_size": 60_000}, "what is missing: noise_multiplier"),
    ("Opacus, with batches in memory of a loader that it replaces",
     {"dataloader": {"batch_size": 16, "shuffle": True}, "epochs": 20, "differential_privacy": {"enabled": True, "noise_multiplier": 0.5,
      "poisson_sampling": True, "logical_batch_size": 512}, "optimizer": {"name": "Adam"}, "loss": {"label_smoothing": 0.1}},
     {"data_size": 3800}, "a step has 512 of 3800 records; an epoch has 7 or 8 steps"),
    (MNIST, OPTIONS, {}, "what is missing: data_size; sampling, which is poisson or"),
    (MNIST, OPTIONS, {"sampling": "poisson", "data_size": 60_000}, "an epoch has 937 or 938 steps; neighbours not given, so add_or_remove; normalise not given, so expected"),
    (TUTORIAL, FLAGS, {"sampling": "poisson"}, "what is missing: data_size; "),
    (TUTORIAL, FLAGS, {"data_size": 60_000}, "what is missing: sampling, which is poisson or fixed_size or shuffled or random_allocation; sampling, data_size and neighbours may also stand"),
    (WIDE, UPDATES, {"sampling": "poisson", "data_size": 50_000}, "num_updates 725, batch_size 4096, target_delta 1e-05, stop_training_at_epsilon 1, std_relative 10; a step has 4096 of 50000"),
]  # fmt: skip
"""Source, what a public file holds, what is given beside it, and what is read of it or missing in it."""
RUNS = "https://github.com/3171849052/dp-adambc-ex/blob/01bfc96ca52351d101a7289f9e5065b1a3bb1872/outputs"


def _run(batch: int, noise: float, epochs: int, epsilon: float, rate: float) -> dict[str, Any]:
    """What its files of resolved configurations hold; they report epsilons by a central limit theorem."""
    return {
        "algorithm": "dpadam",
        "data": {"dataset_name": "glue", "eval_size": 5463, "logical_batch_size": batch, "max_physical_batch_size": 16, "eval_batch_size": 32, "train_size": 104_743},
        "model": {"name": "FacebookAI/roberta-base", "num_labels": 2},
        "privacy": {"accountant": "gdp", "clipping": "flat", "delta": 1e-5, "epsilon": epsilon, "expected_batch_size": None, "loss_reduction": "mean", "max_grad_norm": 1.0,
                    "noise_multiplier": noise, "noise_type": "iid_gaussian", "poisson_sampling": True, "sample_rate": rate},
        "training": {"epochs": epochs, "learning_rate": 1e-4, "max_steps": None, "optimizer": "adam", "warmup_steps": 0},
    }  # fmt: skip


WHOLE: list[tuple[str, dict[str, Any], str, float]] = [
    (f"{RUNS}/20260903-101953_roberta-base_qnli_dpadam_eps3_d1e-5_ep5_lb512_lr1e-4_C1_s0/resolved_config.yaml",
     _run(512, 0.5682373046875, 5, 3.0, 0.004878048780487805), "REFUTED", 5.0855),
    (f"{RUNS}/20260904-235038_bert-base-cased_qnli_dpadam_eps7_d1e-5_ep10_lb256_lr0.001_C0.1_s0/resolved_config.yaml",
     _run(256, 0.47027587890625, 10, 7.0, 0.0024390243902439024), "REFUTED", 9.4609),
    (f"{RUNS}/20260903-231916_roberta-base_qnli_dpadam_eps1_d1e-5_ep5_lb512_lr1e-4_C1_s0/resolved_config.yaml",
     _run(512, 0.8544921875, 5, 1.0, 0.004878048780487805), "REFUTED", 1.2752),
    ("https://github.com/tawsif113/privacy-utility-dp-ids/blob/86d3d2f770bfc80ef9cbdcb80b9ff0a9f46e1f4b/results/dp_sgd_smoke_test/dp_sgd_smoke_manifest.json",
     {"training": {"optimizer": "Adam", "batch_size": 256, "weight_decay": 1e-4, "non_private_epochs": 30, "dp_epochs": 5},
      "dp": {"target_epsilon": 8.0, "delta": 1.134031140495118e-05, "noise_multiplier": 0.469818115234375, "max_grad_norm": 1.0, "sample_rate": 0.002898550724637681,
             "accountant": "prv", "poisson_sampling": True, "clipping": "flat"},
      "architecture": {"input_dim": 122, "hidden_dims": [64, 32], "output": "one logit", "batch_norm": False}, "runtime": {"opacus": "1.6.0"},
      "outputs": {"parity_csv": "non_private_pytorch_parity.csv", "private_smoke_csv": "private_smoke_test.csv"}, "parity": {"tolerances": {"recall": 0.05}},
      "split": {"target_train_rows": 88_181, "target_validation_rows": 12_597}}, "CONFIRMED", 8.076257),
]  # fmt: skip
"""Public files that say all: the verdict of their claim, and the epsilon at delta 1e-5 by dp_accounting 0.6.0."""
FULL: dict[str, Any] = {
    "noise_multiplier": 1.0,
    "batch_size": 100,
    "data_size": 1000,
    "epochs": 2,
    "sampling": "poisson",
}


@pytest.mark.parametrize(
    ("source", "says", "epsilon"),
    [PUBLISHED[0], *(pytest.param(*row, marks=pytest.mark.evidence) for row in PUBLISHED[1:])],
)
def test_a_published_epsilon_is_judged(source: str, says: dict[str, Any], epsilon: float) -> None:
    """An epsilon by Renyi divergences holds of Poisson samples; that of a loader that shuffles is refuted; half of it is below what is proven."""
    claimed = {"target_epsilon": epsilon, "target_delta": 1e-5}
    poisson = mi.account(says | claimed | {"sampler": "poisson"}, fpr=[], epsilon=[])
    assert poisson.verdict == "CONFIRMED"
    assert poisson.numbers["epsilon at delta 1e-05"][0] > 0.65 * epsilon
    loader = {"shuffle": True, "steps_per_epoch": says.get("steps_per_epoch", 234)}
    without = {name: value for name, value in says.items() if name != "sample-rate"}
    assert mi.account(without | claimed | loader, fpr=[], epsilon=[]).verdict == "REFUTED"


@pytest.mark.parametrize(("source", "holds", "beside", "says"), FILES)
def test_a_public_file_is_read_or_lacks_what_it_does_not_say(
    source: str, holds: dict[str, Any], beside: Any, says: str
) -> None:
    try:
        read = read_training(holds, **beside).read
    except ValueError as error:
        read = str(error)
    assert says in read
    with pytest.raises(ValueError, match=r"data_size and .* are the same and differ"):
        mi.account(holds | {"n": 61_000}, **beside | {"data_size": 100_000})


@pytest.mark.parametrize(("source", "holds", "verdict", "epsilon"), WHOLE)
def test_a_public_file_that_says_all_is_judged(
    source: str, holds: dict[str, Any], verdict: str, epsilon: float
) -> None:
    account = mi.account(holds, epsilon=[], fpr=[])
    low, high = account.numbers["epsilon at delta 1e-05"]
    assert account.verdict == verdict
    assert low * (1.0 - 1e-4) <= epsilon <= high * (1.0 + 1e-4)


def test_both_ends_are_those_of_the_fewest_and_the_most_steps() -> None:
    ends = mi.account(FULL | {"data_size": 1050}, epsilon=[], fpr=[]).numbers["epsilon at delta 1e-05"]
    least, most = (mi.dpsgd(1.0, 1 / t, 2 * t).epsilon_bounds(1e-5) for t in (11, 10))
    few = mi.account(1.0, 1 / 11, 20, epsilon=[], fpr=[]).numbers["epsilon at delta 1e-05"]
    many = mi.account(1.0, 1 / 10, 22, epsilon=[], fpr=[]).numbers["epsilon at delta 1e-05"]
    assert ends == (few[0], many[1])
    assert ends[0] < least[0] < most[1] < ends[1]
    between = mi.account(FULL | {"data_size": 1050}, claim=(0.5 * sum(ends), 1e-5), epsilon=[], fpr=[])
    assert between.verdict == "INCONCLUSIVE"


@pytest.mark.parametrize("word", _SPELT)
def test_every_spelling_is_read(word: str) -> None:
    """In place of the name that the table says, in a nested table, with hyphens."""
    name = _SPELT[word]
    value = {"sampling": "poisson", "neighbours": "remove", "group": 2, "normalise": "realised", "epsilon": 3.0, "delta": 1e-6, "sampling_rate": 0.1, "steps_per_epoch": 10,
             "accumulation": 1, "devices": 1, "steps": 20} .get(name, FULL.get(name))  # fmt: skip
    if word in ("poisson_sampling", "shuffle"):
        value = True
    rest = {key: kept for key, kept in FULL.items() if key != name} | (
        {"delta": 1e-5} if name == "epsilon" else {}
    )
    rest |= {"devices": 1} if word.startswith("per_device") else {}
    with_word = read_training(rest | {"train": {word.replace("_", "-").upper(): value}})
    plain = read_training(
        rest | {name: "shuffled" if word == "shuffle" else "poisson" if name == "sampling" else value}
    )
    assert replace(with_word, read="") == replace(plain, read="")


@pytest.mark.parametrize("name", _SAMPLINGS)
def test_samplers_have_usual_names(name: str) -> None:
    for word in _SAMPLINGS[name].split():
        assert read_training(FULL | {"sampling": word}).sampling == name


@pytest.mark.parametrize(
    ("more", "rate"),
    [
        ({"gradient_accumulation_steps": 2}, 0.2),
        ({"logical_batch_size": 200, "batch_size": None, "gradient_accumulation_steps": 2}, 0.2),
        ({"per_device_train_batch_size": 100, "batch_size": None, "world_size": 2}, 0.2),
        ({"batch_size": {"desc": None, "value": 200}, "shuffle": False, "poisson_sampling": True}, 0.2),
        (
            {
                "optimizer": {"epsilon": 1e-8},
                "test_batch_size": 5,
                "eval": {"batch_size": 7},
                "encryption": {"iterations": 1000},
                "synthetic": {"samples": 2560, "batch_size": 256},
                "attack": {"epsilon": 0.03},
                "layer_norm": {"epsilon": 1e-6},
                "group": "sweep of May",
                "groups": 32,
                "normalize": True,
                "transform": {"normalise": {"mean": [0.5], "std": [0.5]}},
            },
            0.1,
        ),
    ],
)
def test_a_step_has_the_records_between_two_updates(more: dict[str, Any], rate: float) -> None:
    training = read_training(FULL | more)
    assert training.least == training.most == [(1.0, rate, round(2 / rate))]
    assert training.claim is None


def test_phases_share_what_stands_outside_and_the_default_of_neighbours_is_shown() -> None:
    """Their numbers are those of the triples; the delta of a file without a claim is reported, whatever the sampling."""
    file = {"sampler": "fixed_size", "delta": 1e-7, "n": 1000, "phases": [
        {"noise": 1.0, "rate": 0.1, "steps": 5}, {"sigma": 2.0, "batch-size": 200, "epochs": 2}]}  # fmt: skip
    triples = [(1.0, 0.1, 5), (2.0, 0.2, 10)]
    result = mi.account(file, epsilon=[], fpr=[])
    assert (
        result.numbers
        == mi.account(phases=triples, sampling="fixed_size", delta=[1e-5, 1e-7], epsilon=[], fpr=[]).numbers
    )
    assert "neighbours not given, so add_or_remove" in result.read
    assert mi.account(file | {"neighbours": "replace"}, epsilon=[], fpr=[]).neighbours == "replace"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "what is missing: noise_multiplier; sampling_rate, or batch_size and data_size; steps, or epochs; sampling, which is"),
        (FULL | {"sampling": None}, "what is missing: sampling, which is poisson or"),
        (FULL | {"epsilon": 1.0}, "what is missing: delta beside epsilon"),
        (FULL | {"train_batch_size": 7}, "batch_size and train_batch_size are the same and differ"),
        (FULL | {"gradient_acumulation_steps": 2}, "did you mean gradient_accumulation_steps"),
        (FULL | {"batch_size": None, "per_device_train_batch_size": 8}, "per_device_train_batch_size is of a device; give the devices"),
        (FULL | {"world_size": 2}, "may be of a device or of all; give the total_batch_size"),
        (FULL | {"sampling": "cyclic"}, "sampling is 'cyclic'; allowed: poisson"),
        (FULL | {"sampling": "shuffle", "data_size": 1050}, "an epoch has 10.5 steps, no whole number"),
        (FULL | {"batch_size": 2000}, "a step has 2000 records of 1000"),
        (FULL | {"noise_multiplier": "much"}, "noise_multiplier is 'much'; it must be a number"),
        (FULL | {"shuffle": False, "sampling": None}, "what is missing: sampling, which is"),
        (FULL | {"poisson_sampling": False}, "sampling is 'poisson' and poisson_sampling is false; give 1 of them"),
        (FULL | {"dp": {"enabled": False, "sigma": 1.0}}, "not read, and may change the noise, the batches or the steps: dp_enabled False; leave out what does not"),
        (OPTIONS | {"disable-dp": True}, "disable_dp True; leave out"),
        (FLAGS | {"dpsgd": False}, "dpsgd False; leave out"),
        (FLAGS | {"microbatches": 64}, "microbatches is 64, and batch_size is 256: a record moves a clipped mean of several by up to 2 norms"),
        (FULL | {"batch_size": {"init_value": 64, "scale_schedule": {"2000": 8}}}, "batch_size is {'init_value': 64"),
        ({"batch_size": 100, "data_size": 1000, "epochs": 2, "sampler": "poisson", "phases": [{"noise": 2.0}, {"noise": 3.0}]}, "epochs stands beside phases, and may be of each or of all"),
        (FULL | {"epochs": 1e308}, "epochs is 1e+308; it must be a finite number in (0, 1e+09]"),
        (FULL | {"batch_size": None, "q": 5e-324}, "q is 5e-324; it must be a finite number in [1e-100, 1]"),
        (FULL | {"sigma": [1.0, 1.2]}, "sigma is [1.0, 1.2]; it must be a finite number"),
        (FULL | {"accumulation": {"steps": 4}}, "accumulation is {'steps': 4}; it must be a whole number"),
        (FULL | {"groups": [{"sigma": 1.0}]}, "steps: sigma 1.0; leave out"),
        (FULL | {"num_microbatches": 1, "batch_size": None, "q": 0.1}, "num_microbatches is 1, and batch_size is None"),
        (FULL | {"noise_multiplier": {"value": 1.0, "end": 0.1}}, "noise_multiplier is {'value': 1.0, 'end': 0.1}; it must be"),
        (FULL | {"sampling": None, "q": {"value": 0.4, "unit": "percent"}}, "q is {'value': 0.4, 'unit': 'percent'}; it must be"),
        (FULL | {"privacy.noise_multiplier": 0.1}, "noise_multiplier is 1.0 and 0.1; give 1 of them"),
        (FULL | {"optim": {"noise_multiplier": 0.3}}, "noise_multiplier is 1.0 and 0.3; give 1 of them"),
        (FULL | {"optimizer": {"batch_size": 2048}}, "batch_size is 100 and 2048; give 1 of them"),
        (FULL | {"optimizer": {"num_microbatches": 1}}, "num_microbatches is 1, and batch_size is 100"),
        (FULL | {"finetune": {"epochs": 2}}, "epochs is 2.0 and 2.0; give 1 of them"),
        ({"phases": [FULL | {"phases": [{"noise": 0.3}]}]}, "phases [{'noise': 0.3}]; leave out"),
        (FULL | {"bs": 512}, "batch_size and bs are the same and differ"),
        (FULL | {"noiseMultiplier": 0.1}, "noise_multiplier is 1.0 and 0.1; give 1 of them"),
        (FULL | {"use_poisson": False}, "sampling is 'poisson' and use_poisson is false; give 1 of them"),
        (FULL | {"phases": []}, "phases is []; it must be a list of tables of noise, rate and steps"),
        (FULL | {"phases": [(1.0, 0.1, 5)]}, "phases is [(1.0, 0.1, 5)]; it must be a list of tables"),
        (FULL | {"phases": [{"noise": 2.0}]}, "noise_multiplier is 1.0 and 2.0; give 1 of them"),
        (FULL | {"phases": [{"neighbours": "add"}, {}]}, "phases have 'add' and 'add_or_remove' as neighbours; it must be the same in all"),
        (FULL | {"data_size": None, "q": 0.1, "accumulation": 4}, "q beside an accumulation of 4 may be of a part or of all; give batch_size and data_size"),
        (FULL | {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": {}}}}}}}}}}, "its tables are nested more than 8 deep"),
        (FULL | {"sampling_rate": 0.01}, "sampling_rate is 0.01, which the rate of 100 of 1000 records contradicts: 0.1 to 0.1; give 1 of them"),
        (FULL | {"steps_per_epoch": 500}, "the rate by the steps of an epoch is 0.002, which the rate of 100 of 1000 records contradicts"),
        (FULL | {"sampling_rate": 0.01, "steps_per_epoch": 10, "batch_size": None}, "sampling_rate is 0.01, which the rate by the steps of an epoch contradicts"),
        (FULL | {"steps": 3}, "steps is 3, which 2 epochs contradict: 20 to 20; give 1 of them"),
        ({**FULL, "batch_size": None, "train_batch_size": 100, "gradient_accumulation_steps": 4}, "train_batch_size beside an accumulation of 4 may be of a part or of all"),
    ],
)  # fmt: skip
def test_what_is_missing_or_wrong_is_a_sentence(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match="noise_multiplier holds a training: ") as error:
        mi.account(given)
    assert says in str(error.value)


CHANGED: list[dict[str, Any]] = [
    {"eval": {"noise_multiplier": 0.3}}, {"optimizer": {"noise_decay": 0.9}}, {"model": {"accum_iter": 4}},
    {"layers": [{"lr": 0.1, "sigma": 0.5}]}, {"groups": [{"epochs": 7}]},
    {"use-dp": False}, {"use-dp": "off"}, {"add_noise": False}, {"noise": None}, {"noise": "none"}, {"mechanism": "none"}, {"noise_type": "none"}, {"privacy": False},
    {"privacy": {"enabled": False}}, {"dp": {"enable": False}}, {"dp": {"do": False}}, {"dp": None}, {"dp": "none"}, {"dp_mode": "off"}, {"dp": {"mode": "off"}},
    {"is_private": False}, {"use_opacus": False}, {"use_privacy": False}, {"with_dp": False}, {"dp_training": False}, {"dp.enabled": False}, {"dp/enabled": "no"},
    {"algorithm": "non-private"}, {"method": "DP-FTRL"}, {"no_privacy": True},
    {"noise_type": "laplace"}, {"perturbation": "laplace"}, {"distribution": "laplace"}, {"noise-decay": 0.9}, {"noise_std": 2.0}, {"dp": {"mechanism": "tree"}},
    {"sigma_decay": 0.9}, {"final_sigma": 0.1}, {"sigma_schedule": "linear"}, {"dp": {"schedule": "linear"}}, {"noise": {"decay": 0.9}}, {"correlated_noise": True},
    *({name: 2} for name in ["effective_batch_size", "global_batch_size", "virtual_batch_size", "accum_iter", "update_freq", "grad_accum", "grad_accum_steps", "accumulate", "gradient_accumulate_every", "microbatch_size", "num_rounds", "comm_round", "num-server-rounds", "num_processes", "nproc_per_node", "gpus", "num_nodes", "num_machines", "num_replicas", "max_train_samples", "local_steps", "start_epoch"]),
    {"gpu_ids": [0, 1]}, {"cuda_visible_devices": "0,1"}, {"batch_size_schedule": "linear"}, {"validation_split": 0.1}, {"train_fraction": 0.5}, {"subset_size": 500}, {"with_replacement": True},
    {"privacy_unit": "user"}, {"clipping": None}, {"clipping": "adaptive"}, {"max_grad_norm": None}, {"max_grad_norm": float("inf")}, {"max_grad_norm": 10**400}, {"l2_norm_clip": 0.0}, {"defaults": ["base"]}, {"resume_from_checkpoint": "out/epoch-3"}, {"k_folds": 5}, {"cohort_size": 50}, {"sensitivity": 2.0}, {"resume": True}, {"resume": "latest"},
    {"dp": {"clip": False}}, {"use_clipping": False}, {"disable_clipping": True}, {"clip_mode": "none"}, {"dp": {"clipping_fn": "none"}}, {"dp": {"adaptive_clip_quantile": 0.5}},
    {"nondp": True}, {"a": [[{"sigma": 0.3}]]}, {"fast_dev_run": True}, {"mixup": 0.2}, {"cutmix": 1.0}, {"overfit_batches": 1}, {"accelerator_config": {"split_batches": True}}, {"aug_repeats": 3}, {"local_ep": 5}, {"local_bs": 10}, {"val_size": 0.1}, {"max_examples_per_user": 4},
    {"callbacks": [{"class_path": "GradientAccumulationScheduler"}]}, {"optimizer": {"name": "dpftrl"}}, {"mode": "nondp"}, {"scheduler": {"_target_": "opacus.schedulers.StepNoise"}},
]  # fmt: skip
"""What may change the noise, the batches or the steps of a training that is else read: none is left unread in silence."""
UNCHANGED: list[dict[str, Any]] = [
    {"optimizer": {"name": "adam", "epsilon": 1e-8, "betas": [0.9, 0.999], "warmup_steps": 100, "grad_clip_norm": None}, "lr_scheduler": "cosine", "max_steps": -1},
    {"seeds": {"dp_noise": 42}, "noise_seed": 3, "num_nodes": 1, "gpus": "0", "gpu": 2, "cuda_visible_devices": "3", "accum_iter": 1, "validation_split": None, "batch_size_schedule": None},
    {"eval_batch_size": 500, "max_physical_batch_size": 64, "log_every_steps": 10, "save_steps": 50, "num_workers": 8, "physical_batch_size": 8, "split": "train", "fp16": True},
    {"dp": {"enabled": True, "max_grad_norm": 1.0, "accountant": "rdp", "secure_mode": False, "clipping": "flat", "noise_type": "gaussian"}, "mechanism": "Gaussian"},
    {"lr": {"desc": None, "value": 0.1}, "max_grad_norm": {"value": 1.2}, "lr_noise_pct": 0.67, "gradient_clip_val": None, "clip_per_layer": False, "patience_epochs": 10, "fold": 0, "resume": "", "min_steps": None, "steps_per_sec": 3.2, "val_batch_size": 7, "dp_max_grad_norm": 1.0, "privacy_unit": "example", "dp_method": "DP-SGD", "privacy_engine": True, "gpu_type": "A100", "percentile": 3, "warmup_fraction": 0.1, "metrics": {"micro_f1": 0.9, "sensitivity": 0.93},
     "dp": {"method": "DP-SGD", "library": "opacus", "description": "x", "C": 1.0} | {"alphas": [2, 3]}, "best_epoch": 7, "gpu_mem_mb": 900, "use_seedable_sampler": True, "history": [{"epsilon": 0.3, "loss": 1.0}], "sensitivity": 1.0},
    {"optimizer": {"class": "DPKerasSGDOptimizer", "noise_multiplier": 1.0, "l2_norm_clip": 1.0, "num_microbatches": 100}, "_wandb": {"value": {"t": {"1": [1, 5]}}}},
    {"runtime": {"opacus": "1.6.0", "gpu_name": "NVIDIA GeForce RTX 3080 Ti", "device": "cuda:0"}, "outputs": {"private_smoke_csv": "a.csv"}, "adaptive_clipping": False},
]  # fmt: skip


@pytest.mark.parametrize("more", CHANGED, ids=str)
def test_what_may_change_the_account_is_not_left_unread(more: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"not read, and may change the noise, the batches or the steps: \w"):
        read_training(FULL | more)


@pytest.mark.parametrize("more", UNCHANGED)
def test_what_changes_nothing_may_stand_beside(more: dict[str, Any]) -> None:
    assert replace(read_training(FULL | more), read="") == replace(read_training(FULL), read="")


TOML = 'lr = 0.1\n[privacy]\nsigma = 1.0\nsampler = "poisson"\ntarget-epsilon = {}\ntarget-delta = 1e-5\n[data]\nn = 1000\nbatch_size = 1000\nepochs = 2\n'


def test_the_command_judges_a_file(tmp_path: Path, capsys) -> None:
    """Of all records in every step, whose numbers are a formula."""
    full = FULL | {"batch_size": 1000}
    for epsilon, status, verdict in ((8.0, 0, "CONFIRMED"), (0.5, 1, "REFUTED")):
        (tmp_path / "run.toml").write_text(TOML.format(epsilon))
        assert main(["account", str(tmp_path / "run.toml")]) == status
        assert (
            f"claim                   epsilon {epsilon:g} at delta 1e-05: {verdict}, if what is not read changes nothing"
            in capsys.readouterr().out
        )
        assert main(["account", str(tmp_path / "run.toml"), "--json"]) == status
        assert json.loads(capsys.readouterr().out)["claim"]["if"] == "what is not read changes nothing"
    (tmp_path / "run.json").write_text(json.dumps(full))
    assert main(["account", str(tmp_path / "run.json"), "--claim", "epsilon=8,delta=1e-5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["claim"] == {
        "epsilon": 8.0,
        "delta": 1e-5,
        "verdict": "CONFIRMED",
    }
    yaml = "\n".join(f"{name}: {value}" for name, value in full.items())
    (tmp_path / "run.yaml").write_text(f"{yaml}\nepsilon: 8\ndelta: 1e-5\n")  # which YAML reads as a text
    pytest.importorskip("yaml", reason="PyYAML reads the file; without it a sentence says so")
    assert main(["account", str(tmp_path / "run.yaml")]) == 0


def test_the_page_prints_what_its_file_gives(tmp_path: Path, capsys) -> None:
    page = (Path(__file__).parents[2] / "docs/switch-accountants.md").read_text("utf-8")
    (file,), (shown,) = (re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("toml", "text"))
    (tmp_path / "train.toml").write_text(file)
    assert main(["account", str(tmp_path / "train.toml")]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [row for row in shown.splitlines() if row.strip() != "..." and row not in printed] == []
    (tmp_path / "train.toml").write_text(
        file.replace('sampler = "poisson"', "shuffle = true").replace("sample-rate = 0.004\n", "")
    )
    assert main(["account", str(tmp_path / "train.toml")]) == 1


GROWS = "a0: &a0 {}\n" + "".join(
    f"a{i}: &a{i} {{{', '.join(f'b{j}: *a{i - 1}' for j in range(20))}}}\n" for i in range(1, 9)
)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("run.toml", "sigma = ", "run.toml: "),
        ("run.toml", "a" + ".a" * 40_000 + " = 1", "its tables are nested more than 8 deep"),
        ("run.json", "[1, 2]", "run.json: it holds no table of names"),
        ("run.json", '{"sigma": 1, "sigma": 2}', "run.json: sigma has two values"),
        (
            "run.yaml",
            "a: {sigma: 1, sigma: 2}",
            "run.yaml: sigma has two values" if importlib.util.find_spec("yaml") else "PyYAML",
        ),
        ("run.json", "[" * 100_000, "run.json: "),
        *(
            (
                "run.yaml",
                f"a: {tag}",
                "run.yaml: it is no YAML" if importlib.util.find_spec("yaml") else "PyYAML",
            )
            for tag in ('!!int ""', '!!float ""', '!!bool "foo"', '!!timestamp "foo"', "[")
        ),
        (
            "run.yaml",
            GROWS,
            "run.yaml: it has more than 100000 entries" if importlib.util.find_spec("yaml") else "PyYAML",
        ),
        ("run.txt", "", "it must end in .toml, .json, .yaml, .yml"),
        ("run.toml", "x" * (2 << 20), "run.toml: it has more than 256 KiB"),
        (None, "", "none.toml: it cannot be read: No such file or directory"),
    ],
)
def test_a_bad_file_is_a_single_sentence(
    tmp_path: Path, capsys, name: str | None, text: str, says: str
) -> None:
    if name is not None:
        (tmp_path / name).write_text(text)
    assert main(["account", str(tmp_path / (name or "none.toml"))]) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1
