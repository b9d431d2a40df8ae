import type * as v from 'valibot'
import type { Context } from './context.js'
import { parseInput } from './model/input.js'

/** A question or a command of the operator: its input is checked, then it runs; what goes wrong is thrown. */
export interface Operation<Schema extends v.GenericSchema, Result> {
  readonly input: Schema
  run(context: Context, input: v.InferOutput<Schema>): Promise<Result>
}

export function defineOperation<Schema extends v.GenericSchema, Result>(
  operation: Operation<Schema, Result>,
): Operation<Schema, Result> {
  return operation
}

/** Checks the input, waits for the database, and runs. */
export async function perform<Schema extends v.GenericSchema, Result>(
  operation: Operation<Schema, Result>,
  context: Context,
  input: unknown,
): Promise<Result> {
  const checked = parseInput(operation.input, input ?? {})
  await context.ready()
  return operation.run(context, checked)
}
