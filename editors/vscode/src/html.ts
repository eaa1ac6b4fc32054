// The HTML report of heddle as the content of a webview.

/**
 * secureReport returns a report whose scripts run only with a nonce, and which can load nothing.
 * The report's own policy allows inline scripts, since a file cannot have a nonce; that of the
 * webview replaces it. It throws an error if the text is not a report of heddle.
 */
export function secureReport(html: string, nonce: string): string {
  const own = /<meta http-equiv="Content-Security-Policy"[^>]*>/g;
  const head = html.indexOf("</head>");
  const policies = html.slice(0, Math.max(head, 0)).match(own) ?? [];
  if (policies.length !== 1) {
    throw new Error("the file is not an HTML report of heddle: it has no policy of its own");
  }
  const policy =
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ` +
    `style-src 'unsafe-inline'; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'">`;
  // The script of the report is its last element. All others hold text that it inserts on demand.
  const secured = html.replace(policies[0], () => policy);
  const script = secured.lastIndexOf("<script>");
  if (script < 0) {
    return secured;
  }
  return `${secured.slice(0, script)}<script nonce="${nonce}">${secured.slice(script + 8)}`;
}
