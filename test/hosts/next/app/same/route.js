import { Tracker } from 'faultboard'

export async function GET() {
  return Response.json({ same: Tracker === globalThis.trackerOfInstrumentation })
}
