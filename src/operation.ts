import * as v from 'valibot'
import type { Context } from './context.js'
import { parseArguments } from './model/input/input.js'
import type { AnyCase } from './model/input/spelling.js'
import type { AuditedChange } from './model/people/audit.js'

/** Command or query of the operator. Throws failures as a TrackerError. */
export interface Operation<Schema extends v.GenericSchema, Result> {
  readonly input: Schema
  /** Expects parsed input. Callers with raw input use `perform`. */
  run(context: Context, input: v.InferOutput<Schema>): Promise<Result>
}

/** Defines an operation whose `run` starts once the database is ready. */
export function defineOperation<Schema extends v.GenericSchema, Result>({
  input,
  run,
}: Operation<Schema, Result>): Operation<Schema, Result> {
  return {
    input,
    async run(context, parsed) {
      await context.ready()
      return run(context, parsed)
    },
  }
}

/** Operation that changes data. */
export interface Command<Schema extends v.GenericSchema, Result> extends Operation<Schema, Result> {
  /**
   * Describes a change for the Audit page. Returns null if nothing changed. Required, so that no command is missing on
   * the page.
   */
  audit(input: v.InferOutput<Schema>, result: Result): AuditedChange | null
}

/** Defines an operation whose changes are recorded for the Audit page, for every caller. */
export function defineCommand<Schema extends v.GenericSchema, Result>({
  input,
  run,
  audit,
}: Command<Schema, Result>): Command<Schema, Result> {
  return {
    input,
    audit,
    async run(context, parsed) {
      await context.ready()
      const result = await run(context, parsed)
      const change = audit(parsed, result)
      if (change) await context.audit.add(change, inputActor(parsed))
      return result
    },
  }
}

/** Names of input fields that contain the actor. */
const ACTOR_FIELDS = ['actor', 'resolved_by', 'muted_by', 'author_name', 'created_by']

function inputActor(input: unknown): string | undefined {
  const fields = input as Record<string, unknown>
  const name = ACTOR_FIELDS.find((field) => typeof fields[field] === 'string')
  return name === undefined ? undefined : String(fields[name])
}

/** Parses raw input, then runs the operation. */
export async function perform<Schema extends v.GenericSchema, Result>(
  operation: Operation<Schema, Result>,
  context: Context,
  input?: unknown,
): Promise<Result> {
  return operation.run(context, parseArguments(operation.input, input ?? {}))
}

/**
 * Returns a proxy function for an operation of a module. The module is loaded on the first call of an operation.
 *
 * @example
 * const lazily = lazyOperations(loadReports)
 * const REPORTS = { Monthly: lazily('monthlyReport') }
 */
export function lazyOperations<Module extends { [name: string]: unknown }>(
  load: () => Promise<Module>,
): <Name extends keyof Module>(name: Name) => Module[Name] {
  return (name) => {
    const operation: AnyOperation = {
      // The loaded operation parses the input.
      input: v.unknown(),
      run: async (context, input) => perform((await load())[name] as AnyOperation, context, input),
    }
    return operation as Module[typeof name]
  }
}

/** Operation with a streamed result. Bound as an async generator. */
export interface StreamOperation<Schema extends v.GenericSchema, Item> {
  readonly stream: Operation<Schema, AsyncIterable<Item>>
}

/** Operation with several methods that share loaded data. Bound as a class. */
export interface ClassOperation<Schema extends v.GenericSchema, Query extends object> {
  readonly input: Schema
  readonly open: Operation<Schema, Query>
  readonly methods: readonly string[]
}

export function asStream<Schema extends v.GenericSchema, Item>(
  stream: Operation<Schema, AsyncIterable<Item>>,
): StreamOperation<Schema, Item> {
  return { stream }
}

/** Requires every method to return a promise. The constructor parses with `input`, which must not be loaded lazily. */
export function asClass<Schema extends v.GenericSchema, Query extends object>(
  input: Schema,
  open: Operation<Schema, Query>,
  methods: readonly (keyof Query & string)[],
): ClassOperation<Schema, Query> {
  return { input, open, methods }
}

// biome-ignore lint/suspicious/noExplicitAny: a table contains operations with any input and result.
type AnyOperation = Operation<any, any>
// biome-ignore lint/suspicious/noExplicitAny: see above.
type AnyStream = StreamOperation<any, any>
// biome-ignore lint/suspicious/noExplicitAny: see above.
type AnyClass = ClassOperation<any, any>
// biome-ignore lint/suspicious/noExplicitAny: see above.
export type CommandTable = { readonly [name: string]: Command<any, any> }
type Methods = { readonly [name: string]: AnyOperation | AnyStream }

/** Operations by public name. A row is an operation, several operations by method name, or a class. */
export type OperationTable = { readonly [name: string]: AnyOperation | AnyClass | Methods }

type BoundMethod<Row> =
  Row extends Operation<infer Schema, infer Result>
    ? (input?: AnyCase<v.InferInput<Schema>>) => Promise<Result>
    : Row extends StreamOperation<infer Schema, infer Item>
      ? (input?: AnyCase<v.InferInput<Schema>>) => AsyncGenerator<Item>
      : never

type Bound<Row> =
  Row extends ClassOperation<infer Schema, infer Query>
    ? new (
        input?: AnyCase<v.InferInput<Schema>>,
      ) => Query
    : Row extends AnyOperation
      ? { call: BoundMethod<Row> }
      : { [Name in keyof Row]: BoundMethod<Row[Name]> }

export type BoundTable<Table> = { [Name in keyof Table]: Bound<Table[Name]> }

/**
 * Binds every row of a table to a tracker. Looks up the context on each call, because a tracker may restart.
 *
 * @example
 * const queries = bindOperations({ FindError: findError, ErrorsList: { page: errorsPage } }, () => context)
 * await queries.FindError.call({ error_id: 7 })
 * await queries.ErrorsList.page({ unresolved: true })
 */
export function bindOperations<Table extends OperationTable>(table: Table, context: () => Context): BoundTable<Table> {
  const bound = Object.entries(table).map(([name, row]) => [name, bindRow(row, context)])
  return Object.fromEntries(bound) as BoundTable<Table>
}

function bindRow(row: OperationTable[string], context: () => Context): unknown {
  if (isOperation(row)) return { call: bindMethod(row, context) }
  if (isClass(row)) return bindClass(row, context)
  return Object.fromEntries(Object.entries(row).map(([name, method]) => [name, bindMethod(method, context)]))
}

function bindMethod(row: AnyOperation | AnyStream, context: () => Context) {
  if (isOperation(row)) return async (input?: unknown) => perform(row, context(), input)
  const { stream } = row
  return async function* (input?: unknown) {
    yield* await perform(stream, context(), input)
  }
}

/** Creates a class whose constructor throws on invalid input. The methods open the query once per context. */
function bindClass({ input: schema, open, methods }: AnyClass, context: () => Context) {
  return function Query(input?: unknown) {
    const parsed = parseArguments(schema, input ?? {})
    let opened: { context: Context; query: Promise<Record<string, (...args: unknown[]) => unknown>> } | null = null
    const query = () => {
      const current = context()
      if (opened?.context !== current) {
        opened = { context: current, query: open.run(current, parsed) }
        opened.query.catch(() => {
          opened = null
        })
      }
      return opened.query
    }
    return Object.fromEntries(
      methods.map((name) => [name, async (...args: unknown[]) => (await query())[name]?.(...args)]),
    )
  }
}

function isOperation(row: OperationTable[string] | AnyStream): row is AnyOperation {
  return typeof (row as Partial<AnyOperation>).run === 'function'
}

function isClass(row: OperationTable[string]): row is AnyClass {
  return 'methods' in row && Array.isArray(row.methods)
}
