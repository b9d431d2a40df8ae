import type { Rendered } from '../define.js'
import { capitalize, formatIdentifier } from './badges.js'

type Choice = readonly [value: string, text: string]

/** Select of a filter form. JavaScript submits the form on change. */
export function FilterSelect({
  name,
  label,
  value,
  choices,
}: {
  name: string
  label: string
  value: string | undefined
  choices: readonly Choice[]
}): Rendered {
  return (
    <label class={value === undefined ? undefined : 'is-set'}>
      <span class="hidden">{label}</span>
      <select name={name} data-submit-on-change>
        {choices.map(([option, text]) => (
          <option value={option} selected={option === (value ?? '')}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

export function labeledOptions(anyLabel: string, list: readonly string[]): Choice[] {
  return [['', anyLabel], ...list.map((option) => [option, capitalize(formatIdentifier(option))] as const)]
}

/** Options of a select. Includes the selected value even if the list does not. */
export function valueOptions(list: readonly string[], selected: string | undefined): Choice[] {
  const all = selected === undefined || list.includes(selected) ? list : [selected, ...list]
  return all.map((value) => [value, value])
}
