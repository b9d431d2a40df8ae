import * as faultboard from 'faultboard/next'

// The same build runs without Faultboard, to be compared with.
const bare = process.env.HOST_WITHOUT_FAULTBOARD !== undefined

export const onRequestError = bare ? undefined : faultboard.onRequestError

export async function register() {
  if (process.env.NEXT_RUNTIME === 'nodejs' && !bare) {
    const { Tracker } = await import('faultboard')
    globalThis.trackerOfInstrumentation = Tracker
    faultboard.register()
  }
}
