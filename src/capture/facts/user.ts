import { types } from 'node:util'

/** Properties where frameworks and common authentication middleware store the user. */
const USER_PATHS: readonly (readonly string[])[] = [
  ['user'],
  ['auth'],
  ['session', 'user'],
  ['session', 'passport', 'user'],
  ['state', 'user'],
  ['session'],
]

const ID_KEYS = ['id', '_id', 'user_id', 'userId', 'sub', 'uuid'] as const

/** Excludes `id`, which is the id of the session itself. */
const SESSION_KEYS = ['user_id', 'userId'] as const

/** Handles the rejection of an asynchronous callback, which would otherwise end the host process. */
function ignoreRejection(result: unknown): void {
  if (types.isPromise(result)) Promise.prototype.then.call(result, undefined, () => {})
}

export type UserCallback = (request: unknown) => unknown

/** True while `user_callback` runs. An error that the callback reports must not run the callback again. */
let isCallbackRunning = false

/** Finds the user of a request with the host's callback, otherwise in the usual properties. Never throws. */
export function findUserId(request: object, callback: UserCallback | null): string | number | undefined {
  try {
    if (callback) return isCallbackRunning ? undefined : callbackUserId(request, callback)
    for (const path of USER_PATHS) {
      const keys = path.at(-1) === 'session' ? SESSION_KEYS : ID_KEYS
      const id = readId(readPath(request, path), keys)
      if (id !== undefined) return id
    }
  } catch {
    // A host callback or getter threw: record the error without a user.
  }
  return undefined
}

function callbackUserId(request: object, callback: UserCallback): string | number | undefined {
  isCallbackRunning = true
  try {
    const user = callback(request)
    ignoreRejection(user)
    return readId(user)
  } finally {
    isCallbackRunning = false
  }
}

/** Id of a user, given as the id itself or as an object with an id. */
function readId(user: unknown, keys: readonly string[] = ID_KEYS): string | number | undefined {
  if (typeof user === 'string' || typeof user === 'number') return user
  if (typeof user === 'bigint') return String(user)
  if (typeof user !== 'object' || user === null) return undefined
  for (const key of keys) {
    const id = (user as Record<string, unknown>)[key]
    if (typeof id === 'string' || typeof id === 'number') return id
    // For example, a MongoDB ObjectId.
    if (typeof id === 'bigint' || (typeof id === 'object' && id !== null && 'toHexString' in id)) return String(id)
  }
  return undefined
}

function readPath(object: object, path: readonly string[]): unknown {
  let value: unknown = object
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}
