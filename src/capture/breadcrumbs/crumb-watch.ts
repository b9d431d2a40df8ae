import { leftStatement } from '../../model/left-statement.js'
import type { Repeat } from '../../model/repeats.js'
import type { CaptureContext } from '../capture-context.js'
import type { Deprecations } from '../deprecations/deprecations.js'
import { guarded } from '../guarded.js'
import { hasRoomToNote } from '../guards/stack-room.js'
import type { NPlusOne } from '../repeats/n-plus-one.js'
import type { Breadcrumb, Trail } from './breadcrumbs.js'

/** Looks at breadcrumbs as they are left, for what can be added up over many of them. */
export class CrumbWatch {
  readonly #n_plus_one: NPlusOne | null
  readonly #deprecations: Deprecations | null

  /** A step that the host or a library left, or printed. */
  readonly left: (crumb: Breadcrumb, trail: Trail) => void

  constructor({ n_plus_one, deprecations, counters }: CaptureContext) {
    this.#n_plus_one = n_plus_one
    this.#deprecations = deprecations
    this.left = guarded(counters, 'breadcrumb', (crumb: Breadcrumb, trail: Trail) => {
      if (hasRoomToNote()) this.#look(crumb, trail)
    })
  }

  /** A statement of a driver that we watch, without values; its duration is added when it ends. */
  begun({ category, message }: Breadcrumb, trail: Trail): Repeat | null {
    return category === 'sql' && this.#n_plus_one ? this.#n_plus_one.note(trail, message) : null
  }

  /** A connection of a pool is asked for. */
  asks(trail: Trail): void {
    this.#n_plus_one?.asks(trail)
  }

  #look(crumb: Breadcrumb, trail: Trail): void {
    switch (crumb.category) {
      case 'sql': {
        const repeat = this.#n_plus_one?.note(trail, leftStatement(crumb))
        if (repeat) repeat.duration_ms += durationOf(crumb)
        break
      }
      case 'deprecation':
        this.#deprecations?.note({ message: crumb.message, code: codeOf(crumb) })
        break
      case 'console': {
        const level = crumb.metadata?.level
        if (level === 'warn' || level === 'error') this.#deprecations?.noteLine(crumb.message)
      }
    }
  }
}

function durationOf({ duration_ms = 0 }: Breadcrumb): number {
  return Number.isFinite(duration_ms) && duration_ms > 0 ? duration_ms : 0
}

function codeOf({ metadata }: Breadcrumb): string | undefined {
  const code: unknown = metadata && Object.getOwnPropertyDescriptor(metadata, 'code')?.value
  return typeof code === 'string' ? code : undefined
}
