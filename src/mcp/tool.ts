import type * as v from 'valibot'
import type { TrackerInstance } from '../tracker.js'

/** A tool for agents. */
export interface Tool<Schema extends v.GenericSchema = v.GenericSchema> {
  name: string
  title: string
  description: string
  input: Schema
  /** Whether the tool changes data. Such tools require `--allow-triage`. */
  changes?: true
  /** Returns data. Throws on failure. */
  run(tracker: TrackerInstance, input: v.InferOutput<Schema>): Promise<unknown>
}

export function defineTool<Schema extends v.GenericSchema>(tool: Tool<Schema>): Tool {
  return tool as unknown as Tool
}
