"""What is said of devices of the local network, in Japanese."""

from __future__ import annotations

__all__ = ["JAPANESE"]

JAPANESE = {
    "Devices of the local network open {url}": (
        "ローカルネットワークのデバイスからは {url} で開けます"
    ),
    "Fingerprint of its certificate (SHA-256): {fingerprint}": (
        "証明書のフィンガープリント (SHA-256): {fingerprint}"
    ),
    "Code to pair a device: {code}. It is good once, for 5 minutes; the page Devices gives more.": (
        "デバイス登録用のコード: {code}。5 分以内に 1 回だけ使えます。"
        "新しいコードは「デバイス」のページで表示できます。"
    ),
    "{name} is locked out.": ("{name} の登録を解除しました。"),
    "No device is paired: 'rireki serve --lan' shows a code.": (
        "登録済みのデバイスはありません。'rireki serve --lan' でコードを表示できます。"
    ),
    "may only read": ("閲覧のみ"),
}
