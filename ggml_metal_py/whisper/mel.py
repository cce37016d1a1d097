"""The mel filter bank that Whisper was trained with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE = 16000
N_FFT = 400

# Slaney's mel scale: linear below 1 kHz, logarithmic above.
_HZ_PER_MEL = 200.0 / 3.0
_BREAK_HZ = 1000.0
_BREAK_MEL = _BREAK_HZ / _HZ_PER_MEL
_LOG_STEP = np.log(6.4) / 27.0


def filters(n_mels: int) -> NDArray[np.float32]:
    """Triangular filters of unit area, shape (n_mels, N_FFT // 2 + 1).

    The formula of librosa.filters.mel(sr=16000, n_fft=400, htk=False, norm="slaney") in the same order of
    operations, so that the values equal the ones OpenAI ships bit for bit.
    """
    top = _BREAK_MEL + np.log(SAMPLE_RATE / 2 / _BREAK_HZ) / _LOG_STEP
    mels = np.linspace(0.0, top, n_mels + 2)
    edges = np.where(
        mels >= _BREAK_MEL, _BREAK_HZ * np.exp(_LOG_STEP * (mels - _BREAK_MEL)), _HZ_PER_MEL * mels
    )
    widths = np.diff(edges)
    ramps = np.subtract.outer(edges, np.fft.rfftfreq(N_FFT, 1.0 / SAMPLE_RATE))
    bank = np.zeros((n_mels, N_FFT // 2 + 1), np.float32)
    for i in range(n_mels):
        bank[i] = np.maximum(0, np.minimum(-ramps[i] / widths[i], ramps[i + 2] / widths[i + 1]))
    bank *= (2.0 / (edges[2:] - edges[:-2]))[:, np.newaxis]
    return bank
