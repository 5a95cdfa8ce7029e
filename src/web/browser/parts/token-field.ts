import { tags } from '../dom.ts'

const { div, input, label } = tags

/** Where somebody types the token that this page asks with; the tab forgets it when it is closed. */
export function tokenField(placeholder: string, changed: () => void = () => undefined): HTMLElement {
  const field = input({
    id: 'token',
    type: 'password',
    placeholder,
    value: token(),
    autocomplete: 'off',
    spellcheck: false,
    oninput: () => sessionStorage.setItem('token', field.value.trim()),
    onchange: changed,
  })
  return div({ className: 'field token' }, label({ htmlFor: field.id }, 'Token'), field)
}

/** The token of this tab, or nothing. */
export function token(): string {
  return sessionStorage.getItem('token') ?? ''
}
