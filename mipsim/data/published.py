"""The published files of each data set, their digests and their publishers' addresses."""

from mipsim.data.files import DataFile, Published

_FASHION = "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/"
_CIFAR = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"
_ADULT = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/"
_SNLI = "https://nlp.stanford.edu/projects/snli/"
_IMAGENET = "https://image-net.org/data/downsample/"
_LOCATION = "https://github.com/privacytrustlab/datasets/raw/master/"

IMAGES_IN_BATCH, CIFAR_RECORD = 10_000, 1 + 3 * 32 * 32
"""Of a CIFAR-10 batch: records, and bytes of a record (a label, then the red, green and blue planes)."""


def _file(base: str, name: str, size: int, sha256: str) -> DataFile:
    return DataFile(name, sha256, size, base + name)


def _batch(name: str, sha256: str) -> DataFile:
    return DataFile(f"{name}.bin", sha256, IMAGES_IN_BATCH * CIFAR_RECORD, _CIFAR)


PUBLISHED: dict[str, Published] = {
    "fashion-mnist": Published(
        "Fashion-MNIST",
        ("fashion-mnist", "fashion", "."),
        (
            _file(_FASHION, "train-images-idx3-ubyte.gz", 26_421_880, "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"),
            _file(_FASHION, "train-labels-idx1-ubyte.gz", 29_515, "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"),
            _file(_FASHION, "t10k-images-idx3-ubyte.gz", 4_422_102, "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"),
            _file(_FASHION, "t10k-labels-idx1-ubyte.gz", 5_148, "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"),
        ),
    ),
    "cifar10": Published(
        "CIFAR-10",
        ("cifar10", "cifar-10-batches-bin", "."),
        (
            _batch("data_batch_1", "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"),
            _batch("data_batch_2", "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"),
            _batch("data_batch_3", "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"),
            _batch("data_batch_4", "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"),
            _batch("data_batch_5", "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"),
            _batch("test_batch", "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"),
        ),
    ),
    "adult": Published(
        "Adult",
        ("adult", "."),
        (
            _file(_ADULT, "adult.data", 3_974_305, "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
            _file(_ADULT, "adult.test", 2_003_153, "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),
        ),
    ),
    # Size and digest as TensorFlow Datasets records them (url_checksums/snli.txt); ParlAI has the same digest.
    "snli": Published(
        "SNLI",
        ("snli", "."),
        (_file(_SNLI, "snli_1.0.zip", 94_550_081, "afb3d70a5af5d8de0d9d81e2637e0fb8c22d1235c2749d83125ca43dab0dbd3e"),),
    ),
    # Sizes and digests as TensorFlow Datasets records them (datasets/imagenet_resized/checksums.tsv).
    "imagenet32": Published(
        "ImageNet, 32 x 32",
        ("imagenet32", "imagenet", "."),
        (
            _file(_IMAGENET, "Imagenet32_train_npz.zip", 3_580_435_279, "94226337ecc1b0309d9fcd0167127aaadc931587035fbcb53925235edbaec4fc"),
            _file(_IMAGENET, "Imagenet32_val_npz.zip", 139_697_668, "013990e6dec1237dcd1f9beadbab81ead6604cc119af5cacbfb59ae28148377a"),
        ),
        "image-net.org gives it to those who accept its terms of access",
    ),
    "location30": Published(
        "Location-30",
        ("location30", "."),
        (
            _file(_LOCATION, "dataset_location.tgz", 287_293, "927203f85a868f8ee17a0ded1dc61699efe602167beabe34fbf45b4b1de94b33"),
        ),
    ),
}  # fmt: skip
"""Name of a data set, as `fetch` takes it -> its files."""
