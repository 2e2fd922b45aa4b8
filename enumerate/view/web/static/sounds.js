// Short tones, made here: nothing is loaded.
let audio = null;

function tone(pitch, begin, length, loudness = 0.08) {
  const source = audio.createOscillator();
  const volume = audio.createGain();
  source.type = "triangle";
  source.frequency.value = pitch;
  volume.gain.setValueAtTime(loudness, audio.currentTime + begin);
  volume.gain.exponentialRampToValueAtTime(0.0001, audio.currentTime + begin + length);
  source.connect(volume).connect(audio.destination);
  source.start(audio.currentTime + begin);
  source.stop(audio.currentTime + begin + length);
}

const SOUNDS = {
  move: (share) => tone(330 + 330 * share, 0, 0.12), // higher, the more of the board is visited
  back: () => tone(220, 0, 0.12),
  refuse: () => tone(140, 0, 0.18),
  over: () => [330, 262, 196].forEach((pitch, index) => tone(pitch, index * 0.16, 0.25)),
  won: () => [523, 659, 784, 1047].forEach((pitch, index) => tone(pitch, index * 0.12, 0.3)),
};

// Browsers allow sound only after the first click or key, and some not at all; then there is none.
export function sound(name, share = 0) {
  try {
    audio ??= new AudioContext();
    SOUNDS[name](share);
  } catch { /* no audio on this machine */ }
}
