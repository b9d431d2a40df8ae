import { setProcessHooks } from '../../../capture/hooks.js'
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

export function setDetection(started: Detection): void {
  detection = started
  setProcessHooks({
    filterStack: (lines) => started.files.unmarked(lines),
    onReport: (thrown) => started.ledger.reported(thrown),
  })
}
