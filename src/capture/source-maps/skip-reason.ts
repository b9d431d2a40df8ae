/** Reason why the frames of a generated file with a map stayed unchanged. */
export type SkipReason =
  | 'map_remote'
  | 'map_outside_project'
  | 'map_missing'
  | 'map_too_large'
  | 'map_broken'
  | 'stack_too_large'

export type OnSkipped = (reason: SkipReason, file: string) => void
