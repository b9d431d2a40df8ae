import type * as v from 'valibot'
import { describeInput, type ParameterDescription } from './describe-input.js'

/** The subset of JSON Schema used here. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** JSON Schema of a parameter. A clamped parameter has no limits, because out-of-range values are accepted. */
export function parameterSchema({ list, ...parameter }: ParameterDescription): JsonSchema {
  if (!list) return valueSchema(parameter)
  return { type: 'array', items: valueSchema(parameter), ...(list.max !== null && { maxItems: list.max }) }
}

/**
 * JSON Schema of a whole input, for clients that send JSON.
 * @example inputSchema(v.object({ error_id: id() })) // { type: 'object', properties: { error_id: { type: 'integer',
 * minimum: 1 } }, required: ['error_id'] }
 */
export function inputSchema(schema: v.GenericSchema): JsonSchema {
  const fields = describeInput(schema)
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, parameterSchema(field)])),
    required: fields.filter(({ required }) => required).map(({ name }) => name),
  }
}

function valueSchema({
  type,
  min,
  max,
  clamped,
  allowed,
  note,
  default: defaultValue,
}: Omit<ParameterDescription, 'list'>): JsonSchema {
  const constraints = {
    ...(allowed && { enum: allowed }),
    ...(defaultValue !== undefined && { default: defaultValue }),
  }
  const notes = [note, clamped && limitsText(type, min, max)].filter(Boolean).join('; ')
  const description = notes === '' ? {} : { description: notes }
  switch (type) {
    case 'id':
      return { type: 'integer', minimum: 1, ...constraints, ...description }
    case 'integer':
    case 'number':
      return { type, ...(!clamped && rangeConstraints(min, max)), ...constraints, ...description }
    case 'boolean':
      return { type, ...constraints, ...description }
    case 'time':
      return { type: 'string', format: 'date-time', ...constraints, ...description }
    case 'day':
      return { type: 'string', format: 'date', ...constraints, ...description }
    default:
      return {
        type: 'string',
        ...(max !== undefined && !clamped && { maxLength: max }),
        ...constraints,
        ...description,
      }
  }
}

function rangeConstraints(min: number | undefined, max: number | undefined): JsonSchema {
  return { ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) }
}

function limitsText(type: ParameterDescription['type'], min: number | undefined, max: number | undefined): string {
  return type === 'text' ? `truncated to ${max} characters` : `from ${min} to ${max}, clamped to the nearest limit`
}
