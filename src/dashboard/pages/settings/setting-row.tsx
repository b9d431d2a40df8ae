import type * as v from 'valibot'
import type { Group } from '../../../config/options.js'
import * as r from '../../../model/result.js'
import type { Rendered } from '../../define.js'

export const Setting = r.object({
  name: r.text,
  group: r.text,
  /** Value as text. Secrets are masked. */
  value: r.text,
  is_default: r.boolean,
  environment_variable: r.nullable(r.text),
  text: r.text,
})
export interface Setting extends v.InferOutput<typeof Setting> {
  group: Group
}

/** Option with its value and description. */
export function SettingRow({ setting }: { setting: Setting }): Rendered {
  const { name, text, is_default, environment_variable } = setting
  return (
    <div class="setting" data-setting={`${name} ${text}`.toLowerCase()}>
      <dt>
        <code id={name}>{name}</code>
        {!is_default && <span class="badge changed">changed</span>}
      </dt>
      <dd class="setting-value">
        <Value setting={setting} />
      </dd>
      <dd class="setting-text">
        <p>{withCode(text)}</p>
        {environment_variable && (
          <p class="meta muted">
            <code>{environment_variable}</code>
          </p>
        )}
      </dd>
    </div>
  )
}

/** Shows text between backticks as code. The docs contain the same text as Markdown. */
function withCode(text: string): Rendered {
  return text.split('`').map((part, i) => (i % 2 === 0 ? part : <code>{part}</code>))
}

function Value({ setting: { value, is_default } }: { setting: Setting }): Rendered {
  if (value === 'true' || value === 'false') {
    return <span class={`switch ${value === 'true' ? 'on' : 'off'}`}>{value === 'true' ? 'On' : 'Off'}</span>
  }
  return <code class={is_default ? 'muted' : undefined}>{value}</code>
}
