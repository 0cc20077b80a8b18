// A sound and a vibration for a new question. A browser lets a page make a sound only after somebody
// has touched it, so the first touch after a reload makes the sound possible again.

const length = 0.35;
const pitches = [880, 1175];

let sounds = null;

/// Prepares the sound; to be called when somebody touches the page.
export function prepareSound() {
  sounds ??= new AudioContext();
  sounds.resume();
}

/// Rings twice, the second time higher.
export function ring() {
  navigator.vibrate?.([200, 100, 200]);
  if (sounds?.state !== "running") return;
  pitches.forEach((pitch, place) => {
    const tone = new OscillatorNode(sounds, { frequency: pitch });
    const loudness = new GainNode(sounds, { gain: 0 });
    const begin = sounds.currentTime + place * length;
    loudness.gain.setValueAtTime(0.25, begin);
    loudness.gain.exponentialRampToValueAtTime(0.001, begin + length);
    tone.connect(loudness).connect(sounds.destination);
    tone.start(begin);
    tone.stop(begin + length);
  });
}
