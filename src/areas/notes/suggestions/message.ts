/** What a template of the message of a commit may name. */
export interface MessageFacts {
  readonly user: { readonly name: string; readonly username: string }
  readonly project: { readonly name: string; readonly fullPath: string }
  readonly branch: string
  readonly files: readonly string[]
  readonly suggestions: number
  /** Those who proposed it, other than the author of the commit. */
  readonly coAuthors: readonly { readonly name: string; readonly email: string }[]
}

export const defaultTemplate =
  'Apply %{suggestions_count} suggestion(s) to %{files_count} file(s)\n\n%{co_authored_by}'

const parts: Readonly<Record<string, (facts: MessageFacts) => string>> = {
  branch_name: ({ branch }) => branch,
  files_count: ({ files }) => String(files.length),
  file_path: ({ files }) => files.join(', '),
  file_paths: ({ files }) => files.join(', '),
  project_name: ({ project }) => project.name,
  project_path: ({ project }) => project.fullPath,
  user_full_name: ({ user }) => user.name,
  username: ({ user }) => user.username,
  suggestions_count: ({ suggestions }) => String(suggestions),
  co_authored_by: ({ coAuthors }) =>
    coAuthors.map(({ name, email }) => `Co-authored-by: ${name} <${email}>`).join('\n'),
}

/** A message from a template; what the template does not know stays as it is written. */
export function suggestionMessage(template: string, facts: MessageFacts): string {
  return template
    .replaceAll(/%\{(\w+)\}/g, (written, name: string) =>
      Object.hasOwn(parts, name) ? parts[name]!(facts) : written,
    )
    .trim()
}
