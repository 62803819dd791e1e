/** Contrast as WCAG 2.2 measures it (§1.4.3 and its definitions of relative luminance and contrast ratio). */

/** `#1d3157`: the one form in which colours are written here. */
export const COLOR = /^#[0-9a-f]{6}$/;

/** What text must have against what it stands on, at level AA (WCAG 2.2 §1.4.3). */
export const LEGIBLE = 4.5;

/** What our pages draw links and text of a theme's colour on, by day and by night: panels, and notes on them. */
export const GROUNDS = { color: ['#fdfdfc', '#f1f3f6'], color_dark: ['#181f2c', '#202939'] } as const;

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** How two colours differ, from 1 to 21. */
function contrast(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

/** The least contrast of a theme's colour with what it stands on. */
export const leastContrast = (mode: keyof typeof GROUNDS, color: string): number =>
  Math.min(...GROUNDS[mode].map((ground) => contrast(color, ground)));
