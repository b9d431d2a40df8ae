export type Rhythm = keyof typeof HOURS

/** Distribution of errors over the hours of a day (UTC): errors follow their users or schedules. */
export const HOURS = {
  visitors: [2, 1, 1, 1, 1, 2, 4, 6, 8, 9, 9, 10, 11, 10, 9, 9, 10, 11, 13, 15, 16, 14, 9, 5],
  office: [0, 0, 0, 0, 0, 1, 2, 7, 14, 15, 14, 12, 9, 13, 15, 14, 11, 6, 2, 1, 1, 0, 0, 0],
  nightly: [6, 22, 30, 14, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2],
  steady: Array.from({ length: 24 }, () => 1),
} as const satisfies Record<string, readonly number[]>

/** Sunday first. */
export const WEEKDAYS = {
  visitors: [1.3, 0.9, 0.85, 0.9, 0.95, 1.1, 1.35],
  office: [0.12, 1.2, 1.3, 1.3, 1.25, 1.1, 0.15],
  nightly: [1, 1, 1, 1, 1, 1, 1],
  steady: [1, 1, 1, 1, 1, 1, 1],
} as const satisfies Record<Rhythm, readonly number[]>
