import type { Ledger } from './ledger.js'
import type { MarkedFiles } from './marked-files.js'

/** What a process has that was started with `faultboard/register` and the switch on. */
export interface Detection {
  ledger: Ledger
  files: MarkedFiles
  /** Where we lie ourselves. */
  own_folder: string
  /** Whether a tracker writes down what is counted. */
  is_kept: boolean
}

let detection: Detection | null = null

/** Null in a process whose modules are not marked. */
export function currentDetection(): Detection | null {
  return detection
}

export function setDetection(begun: Detection): void {
  detection = begun
}

/** Somebody was told of an error: it is not swallowed. */
export function noteReported(thrown: unknown): void {
  detection?.ledger.reported(thrown)
}

/** The lines of a stack as they would be without marks in the code. */
export function withoutMarks(lines: readonly string[]): readonly string[] {
  return detection ? detection.files.unmarked(lines) : lines
}
