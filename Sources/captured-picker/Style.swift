import CGTK

/// What the window looks like beside the person's theme.
@MainActor enum Style {
    static func apply() {
        let provider = unsafe gtk_css_provider_new()
        unsafe gtk_css_provider_load_from_data(provider, rules, -1, nil)
        unsafe gtk_style_context_add_provider_for_screen(
            gdk_screen_get_default(),
            cgtk_style_provider(provider),
            UInt32(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION)
        )
    }

    private static let rules = """
        .headline { font-size: 140%; font-weight: bold; }
        flowboxchild { padding: 5px; border: 3px solid transparent; border-radius: 8px; }
        flowboxchild:hover { background-color: alpha(@theme_fg_color, 0.07); }
        flowboxchild:focus { outline: 2px solid alpha(@theme_selected_bg_color, 0.6); outline-offset: -1px; }
        .picture { background-color: alpha(@theme_fg_color, 0.08); border-radius: 4px; }
        .placeholder { font-size: 250%; color: alpha(@theme_fg_color, 0.6); }
        .over { font-size: 130%; color: white; background-color: rgba(0, 0, 0, 0.55); border-radius: 18px;
                min-width: 36px; min-height: 36px; }
        .badge { font-weight: bold; font-size: 120%; color: white; background-color: #5e5c64; border-radius: 12px;
                 min-width: 24px; min-height: 24px; margin: 5px; border: 1px solid white; }
        .picked { border-color: @theme_selected_bg_color; background-color: alpha(@theme_selected_bg_color, 0.2); }
        .picked .badge { background-color: @theme_selected_bg_color; color: @theme_selected_fg_color; }
        .dropped { border-color: #c01c28; }
        .dropped .badge { background-color: #c01c28; }
        """
}
