import type * as v from 'valibot'
import type { Role } from '../model/people/identity.js'
import type { TrackerInstance } from '../tracker.js'

/** A tool for agents. */
export interface Tool<Schema extends v.GenericSchema = v.GenericSchema> {
  name: string
  title: string
  description: string
  input: Schema
  /** Role that a call needs. The server has the role viewer, or responder with `--allow-triage`. */
  role: Role
  /** Returns data. Throws on failure. */
  run(tracker: TrackerInstance, input: v.InferOutput<Schema>): Promise<unknown>
}

export function defineTool<Schema extends v.GenericSchema>(tool: Tool<Schema>): Tool {
  return tool as unknown as Tool
}
