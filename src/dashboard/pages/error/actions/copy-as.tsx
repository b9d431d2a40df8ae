import type { Rendered } from '../../../define.js'
import { CopyButton } from '../../../ui/copy.js'
import { SubMenu } from '../../../ui/menu.js'

/** Exports the error as Markdown, curl or JSON. Without JavaScript, the text can be selected and copied. */
export function CopyAs({ markdown, curl, json }: { markdown: string; curl: string | null; json: string }): Rendered {
  return (
    <SubMenu label="Copy as">
      <div class="copy-as">
        <CopyText id="copy-markdown" label="Markdown" text={markdown} />
        {curl && <CopyText id="copy-curl" label="curl" text={curl} />}
        <p class="copy-json">
          <a href={json}>Open as JSON</a> <CopyButton json={json} label="Copy JSON" />
        </p>
      </div>
    </SubMenu>
  )
}

function CopyText({ id, label, text }: { id: string; label: string; text: string }): Rendered {
  return (
    <div class="copy-text">
      <label>
        <span>{label}</span>
        <textarea id={id} rows={5} readonly>
          {text}
        </textarea>
      </label>
      <CopyButton from={id} label={`Copy ${label}`} />
    </div>
  )
}
