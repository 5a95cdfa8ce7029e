/** How the instance shows itself, as administrators say it beside the settings. */
export interface Appearance {
  readonly title: string
  /** Markdown, as the guidelines are. */
  readonly description: string
  readonly new_project_guidelines: string
  readonly profile_image_guidelines: string
  readonly header_message: string
  readonly footer_message: string
  readonly message_background_color: string
  readonly message_font_color: string
  readonly email_header_and_footer_enabled: boolean
  /** Names of the pictures; null: that of the service. */
  readonly logo: string | null
  readonly header_logo: string | null
  readonly favicon: string | null
}

export const usualAppearance: Appearance = {
  title: '',
  description: '',
  new_project_guidelines: '',
  profile_image_guidelines: '',
  header_message: '',
  footer_message: '',
  message_background_color: '#E75E40',
  message_font_color: '#FFFFFF',
  email_header_and_footer_enabled: false,
  logo: null,
  header_logo: null,
  favicon: null,
}

/** Among the stored settings, under a name that no setting can have. */
export const storedAppearanceName = 'appearance of the instance'

export function appearanceOf(
  stored: readonly { readonly name: string; readonly value: unknown }[],
): Appearance {
  const found = stored.find(({ name }) => name === storedAppearanceName)?.value
  return { ...usualAppearance, ...(found as Partial<Appearance> | undefined) }
}
