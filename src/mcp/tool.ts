import type * as v from 'valibot'
import type { TrackerInstance } from '../tracker.js'

/** Something an agent may ask for. */
export interface Tool<Schema extends v.GenericSchema = v.GenericSchema> {
  name: string
  title: string
  description: string
  input: Schema
  /** Whether it changes something: such tools are there only when they were allowed. */
  changes?: true
  /** Gives data; what goes wrong is thrown. */
  run(tracker: TrackerInstance, input: v.InferOutput<Schema>): Promise<unknown>
}

export function defineTool<Schema extends v.GenericSchema>(tool: Tool<Schema>): Tool {
  return tool as unknown as Tool
}
