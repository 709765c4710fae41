import { seeded } from "./stats.mjs";

export const dims = 1_536;
const subjects = 64;
const noises = 1_024;
let made;

/** A unit vector that depends on the text alone: its subject by one part of a hash, its own direction, which weighs more, by another. */
export function vectorOf(text) {
  made ??= { centres: directions(subjects, 3), noise: directions(noises, 4) };
  const hash = hashOf(text);
  return blend(made.centres[hash % subjects], made.noise[(hash >>> 8) % noises], made.noise[(hash >>> 18) % noises], 0.4);
}

/** `count` vectors around subjects, or without any structure. */
export function vectors(count, { seed, clustered }) {
  const random = seeded(seed);
  const centres = clustered ? directions(subjects, 3) : undefined;
  return Array.from({ length: count }, (_, i) => {
    const own = direction(random);
    return centres ? blend(centres[i % subjects], own, own) : own;
  });
}

function blend(centre, a, b, weight = 1) {
  const vector = new Float32Array(dims);
  let sum = 0;
  for (let i = 0; i < dims; i += 1) {
    const value = weight * centre[i] + 0.5 * a[i] + 0.5 * b[i];
    vector[i] = value;
    sum += value * value;
  }
  const scale = 1 / Math.sqrt(sum);
  for (let i = 0; i < dims; i += 1) vector[i] *= scale;
  return vector;
}

function directions(count, seed) {
  const random = seeded(seed);
  return Array.from({ length: count }, () => direction(random));
}

function direction(random) {
  const vector = new Float32Array(dims);
  let sum = 0;
  for (let i = 0; i < dims; i += 1) {
    // Near enough to a normal distribution, at a third of its cost.
    const value = random() + random() + random() - 1.5;
    vector[i] = value;
    sum += value * value;
  }
  const scale = 1 / Math.sqrt(sum);
  return vector.map((value) => value * scale);
}

/** FNV-1a. */
function hashOf(text) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}
